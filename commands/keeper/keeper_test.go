package keeper

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/missions"
)

// TestAgentIsToldWhereItRuns: PWD is the agent's directory, under the name that the
// keeper's user calls it by, if that is the same one.
func TestAgentIsToldWhereItRuns(t *testing.T) {
	t.Parallel()
	workspace, elsewhere := t.TempDir(), t.TempDir()
	link := filepath.Join(elsewhere, "link")
	if err := os.Symlink(workspace, link); err != nil {
		t.Fatal(err)
	}
	for kept, want := range map[string]string{elsewhere: workspace, link: link, workspace: workspace, "": workspace} {
		world := call.Env{Environ: func() []string { return []string{"PWD=" + kept} }}
		env := agentEnv((&call.Call{Env: world}), missions.Launch{Dir: workspace}, Variables{})
		if got := ValueOf(env, "PWD"); got != want {
			t.Errorf("kept in %s the agent runs in %s, want %s", kept, got, want)
		}
	}
}

// TestVariablesAreNamed: who launches an agent is told the names of all that it will have, and
// no values.
func TestVariablesAreNamed(t *testing.T) {
	t.Parallel()
	world := call.Env{Environ: func() []string { return []string{"PATH=/bin:/usr/bin", "KEY=a=b", "EMPTY=", "PATH=/bin"} }}
	given := Variables{List: []string{"DEBUG=1", "KEY=c"}}
	if got, want := given.allNames(&call.Call{Env: world}), []string{"DEBUG", "EMPTY", "KEY", "PATH"}; !slices.Equal(got, want) {
		t.Errorf("%q are named, want %q", got, want)
	}
}
