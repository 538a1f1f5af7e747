package merges

import (
	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/missions"
)

// findDriver finds the program of a driver where its user has it: whoever serves the merge may
// look for programs elsewhere.
func findDriver(c *call.Call, name string) (missions.MergeDriver, error) {
	driver := missions.MergeDriver{Name: name}
	if name == "" || name == missions.NoDriver {
		return driver, nil
	}
	program, known := missions.MergeDrivers()[name]
	if !known {
		return driver, missions.Errorf(missions.KindUsage, "--driver mergiraf, weave or none", "%s is no driver that umbra knows", name)
	}
	found, err := missions.LookPath(program, "", c.Getenv("PATH"))
	if err != nil {
		return driver, missions.Errorf(missions.KindNotFound, "install it, or --driver none: Git merges by itself", "%s is not in PATH", program)
	}
	driver.Program = found
	return driver, nil
}
