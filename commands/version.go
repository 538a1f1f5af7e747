package commands

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
)

func versionCommand() *verb {
	return &verb{
		name: "version", short: "print the version of umbra",
		run: func(c *call) error { return printVersion(c.Env, c.JSON) },
	}
}

// printVersion prints what the build knows of itself.
func printVersion(env Env, asJSON bool) error {
	if !asJSON {
		_, err := fmt.Fprintf(env.Stdout, "umbra %s %s/%s %s\n", version(), runtime.GOOS, runtime.GOARCH, runtime.Version())
		return err
	}
	p, err := json.Marshal(map[string]string{
		"version": version(), "os": runtime.GOOS, "arch": runtime.GOARCH, "go": runtime.Version(),
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.Stdout, "%s\n", p)
	return err
}

// version is the module's version where the build has one, else the commit it
// was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	revision, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value[:min(len(s.Value), 12)]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+changes"
		}
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	if revision != "" {
		return "devel-" + revision + dirty
	}
	return "devel"
}
