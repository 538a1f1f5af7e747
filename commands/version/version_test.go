package version

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// TestBuild: the version is the module's, else the commit's, else unknown.
func TestBuild(t *testing.T) {
	t.Parallel()
	stamped := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: settings}
	}
	commit := []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123456789abcdef0123"}, {Key: "vcs.time", Value: "2026-01-31T16:40:00Z"}, {Key: "vcs.modified", Value: "true"},
	}
	here := build{OS: runtime.GOOS, Arch: runtime.GOARCH, Go: runtime.Version()}
	for _, c := range []struct {
		info *debug.BuildInfo
		want build
	}{
		{nil, build{Version: "unknown"}},
		{stamped("(devel)"), build{Version: "devel"}},
		{stamped("v1.2.3"), build{Version: "v1.2.3"}},
		{stamped("", commit...), build{Version: "devel-0123456789ab+changes", Commit: "0123456789abcdef0123", Time: "2026-01-31T16:40:00Z", Modified: true}},
	} {
		c.want.OS, c.want.Arch, c.want.Go = here.OS, here.Arch, here.Go
		if got := buildOf(c.info); got != c.want {
			t.Errorf("%+v, want %+v", got, c.want)
		}
	}
}
