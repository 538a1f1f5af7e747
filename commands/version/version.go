// Package version is what a program knows of how it was built.
package version

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/umbra-vcs/umbra/commands/call"
)

func Command() *call.Verb {
	return &call.Verb{
		Name: "version", Short: "print the version of umbra, and what it was built from",
		Run: func(c *call.Call) error { return Print(c) },
	}
}

// build is what a program knows of how it was built; what it does not know is
// left out.
type build struct {
	Version  string `json:"version"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
	Go       string `json:"go"`
	Commit   string `json:"commit,omitempty"`
	Time     string `json:"commit_time,omitempty"` // RFC 3339
	Modified bool   `json:"modified,omitempty"`    // there were changes beside the commit
}

// Print prints what the build knows of itself.
func Print(c *call.Call) error {
	info, _ := debug.ReadBuildInfo()
	b := buildOf(info)
	if c.JSON {
		return c.PrintJSON(b)
	}
	text := fmt.Sprintf("umbra %s %s/%s %s\n", b.Version, b.OS, b.Arch, b.Go)
	if b.Commit != "" {
		text += "commit " + b.Commit + " of " + b.Time
		if b.Modified {
			text += ", with changes"
		}
		text += "\n"
	}
	_, err := io.WriteString(c.Stdout, text)
	return err
}

// Current is the module's version where the build has one, else the commit it
// was built from.
func Current() string {
	info, _ := debug.ReadBuildInfo()
	return buildOf(info).Version
}

// buildOf reads what the Go command stamped into a program; info may be nil.
func buildOf(info *debug.BuildInfo) build {
	b := build{Version: "unknown", OS: runtime.GOOS, Arch: runtime.GOARCH, Go: runtime.Version()}
	if info == nil {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	switch v := info.Main.Version; {
	case v != "" && v != "(devel)":
		b.Version = v
	case b.Commit != "":
		b.Version = "devel-" + b.Commit[:min(len(b.Commit), 12)]
		if b.Modified {
			b.Version += "+changes"
		}
	default:
		b.Version = "devel"
	}
	return b
}
