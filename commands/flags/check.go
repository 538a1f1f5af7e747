package flags

import (
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/umbra-vcs/umbra/missions"
)

// Check refuses a value that its flag can't hold.
func Check(f Flag, name, value string) error {
	switch f.(type) {
	case *cli.BoolFlag:
		if value != "true" && value != "false" {
			return missions.Errorf(missions.KindUsage, "give it without a value", "%s is %q", name, value)
		}
	case *cli.IntFlag:
		if n, err := strconv.Atoi(value); err != nil || n < 0 {
			return missions.Errorf(missions.KindUsage, "for example "+name+" 3", "%s is %q, which is no number", name, value)
		}
	case *cli.DurationFlag:
		if d, err := time.ParseDuration(value); err != nil || d < 0 {
			return missions.Errorf(missions.KindUsage, "for example "+name+" 90s, 5m or 2h", "%s is %q, which is no duration", name, value)
		}
	}
	return nil
}

// CheckEmpty refuses a path, a name or a number that names nothing, such as the value of
// a variable that is not set: without it the command would mean everything. Texts may
// be empty.
func CheckEmpty(f Flag, name, value string) error {
	switch known := f.Names()[0]; f.(type) {
	case *cli.StringFlag, *cli.StringSliceFlag, optional:
		if known != "prompt" && known != "m" && strings.TrimSpace(value) == "" {
			return missions.Errorf(missions.KindUsage, "give it a value, or leave it out", "%s is empty", name)
		}
	case *cli.IntFlag:
		if n, _ := strconv.Atoi(value); known != "width" && n == 0 {
			return missions.Errorf(missions.KindUsage, "give a number from 1 on", "%s is 0", name)
		}
	case *cli.DurationFlag:
		if d, _ := time.ParseDuration(value); strings.HasSuffix(known, "timeout") && d == 0 {
			return missions.Errorf(missions.KindUsage, "give it a time, such as 90s, or leave it out", "%s is 0: that is no time to wait", name)
		}
	}
	return nil
}

// Assignment reports whether a word is K=V.
func Assignment(kv string) bool {
	name, value, ok := strings.Cut(kv, "=")
	return ok && name != "" && !strings.ContainsAny(name, " \t\"'") && !strings.ContainsRune(value, 0)
}
