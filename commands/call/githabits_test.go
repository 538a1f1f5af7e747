package call

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestGitHabits(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]gitHabits{
		"":                                            {},
		"core.pager\nless -S\x00":                     {pager: "less -S"},
		"core.pager\na\x00core.pager\nb\x00":          {pager: "b"},
		"core.pager\n\x00":                            {pager: "cat"},
		"core.pager\n\x00pager.log\nb\x00":            {pager: "b"},
		"core.pager\na\x00pager.log\nb -x\x00":        {pager: "b -x"},
		"core.pager\na\x00pager.log\nfalse\x00":       {pager: "a", unpaged: true},
		"core.pager\na\x00pager.log\x00":              {pager: "a"},
		"color.ui\nnever\x00":                         {color: "never"},
		"color.ui\nOFF\x00":                           {color: "never"},
		"color.ui\nauto\x00":                          {},
		"color.ui\ntrue\x00":                          {},
		"color.ui\nalways\x00color.diff\nfalse\x00":   {color: "never"},
		"color.diff\nalways\x00color.ui\nfalse\x00":   {color: "always"},
		"color.ui\nfalse\x00color.diff\nauto\x00":     {},
		"color.ui\nfalse\x00pager.log\nalways -x\x00": {color: "never", pager: "always -x"},
	} {
		if got := habitsOf(said, "pager.log"); got != want {
			t.Errorf("%q: %+v, want %+v", said, got, want)
		}
	}
}

// TestHabitsOfARepository: what an agent may write into a repository's configuration
// is not asked for; what its user has is.
func TestHabitsOfARepository(t *testing.T) {
	home, repo := t.TempDir(), t.TempDir()
	environ := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_DIR=" + filepath.Join(repo, ".git"), "GIT_CONFIG_NOSYSTEM=1"}
	for _, args := range [][]string{{"init", "-q", repo}, {"-C", repo, "config", "core.pager", "touch pwned"}, {"config", "--global", "color.ui", "never"}} {
		cmd := exec.Command("git", args...)
		cmd.Env = []string{environ[0], environ[1]}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	t.Chdir(repo)
	program, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	if got := habitsIn(t.Context(), program, environ, "log"); got != (gitHabits{color: "never"}) {
		t.Errorf("in a repository with a pager of its own: %+v", got)
	}
}

// TestNoColor: --no-color is --color never, and no other word beside it.
func TestNoColor(t *testing.T) {
	t.Parallel()
	env := Env{Getenv: func(string) string { return "" }}
	for color, want := range map[string]string{"auto": "never", "never": "never", "always": ""} {
		g := Globals{Color: color, noColor: true}
		if err := g.Settle(env); (err == nil) != (want != "") || err == nil && g.Color != want {
			t.Errorf("%s: %q %v", color, g.Color, err)
		}
	}
}
