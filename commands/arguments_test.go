package commands

import (
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/scripts/hazards"
)

func TestArrange(t *testing.T) {
	t.Parallel()
	hazards.Held(t, hazards.H34, "flags count wherever they stand")
	hazards.Held(t, hazards.H38, "what follows `--` is apart, and a value is not split")
	for line, want := range map[string]struct{ path, globals, flags, args, after string }{
		"fork vim":                           {"fork", "", "", "vim", ""},
		"fork -- vim":                        {"fork", "", "", "", "vim"},
		"fork one@5 --name x -- vim -u --y":  {"fork", "", "--name=x", "one@5", "vim -u --y"},
		"--json mission ls --all":            {"mission ls", "--json=true", "--all=true", "", ""},
		"mission --json ls --all":            {"mission ls", "--json=true", "--all=true", "", ""},
		"mission ls --all --json":            {"mission ls", "--json=true", "--all=true", "", ""},
		"restore --displaced":                {"restore", "", "--displaced=true", "", ""},
		"restore a --displaced b":            {"restore", "", "--displaced=true", "a b", ""},
		"cat M --displaced a":                {"cat", "", "--displaced=true", "M a", ""},
		"restore M@5 --keep-others --path a": {"restore", "", "--keep-others=true --path=a", "M@5", ""},
		"restore --path=a --path b M@5":      {"restore", "", "--path=a --path=b", "M@5", ""},
		"log -n 3 one":                       {"log", "", "--n=3", "one", ""},
		"log one -n3":                        {"log", "", "--n=3", "one", ""},
		"log -n=3 one":                       {"log", "", "--n=3", "one", ""},
		"checkpoint -m hello":                {"snapshot", "", "--m=hello", "", ""},
		"snapshot --message hello":           {"snapshot", "", "--m=hello", "", ""},
		"unpin -- --odd":                     {"unpin", "", "", "--odd", ""},
		"show M -- p -q":                     {"show", "", "", "M", "p -q"},
		"diff a b -- p -q":                   {"diff", "", "", "a b", "p -q"},
		"undo -n 2 -n 2":                     {"undo", "", "--n=2", "", ""},
		"mission new --env A=1,B=2 --env C":  {"mission new", "", "--env=A=1,B=2 --env=C", "", ""},
		"--home /x log --home=/x":            {"log", "--home=/x", "", "", ""},
		"snapshot -m -odd":                   {"snapshot", "", "--m=-odd", "", ""},
		"git one -- log --json":              {"git", "", "", "one", "log --json"},
		"mission ls --all=false":             {"mission ls", "", "--all=false", "", ""},
		"git log -p --json -- a.txt":         {"git", "", "", "", "log -p --json -- a.txt"},
		"git one log -p":                     {"git", "", "", "one", "log -p"},
		"git --write gc":                     {"git", "", "--write=true", "gc", ""},
		"mission ls --json=name,state":       {"mission ls", "--json=name,state", "", "", ""},
	} {
		var g call.Globals
		in, err := arrange(allVerbs(), g.Flags(), strings.Fields(line))
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		got := [...]string{strings.Join(in.path, " "), strings.Join(in.globals, " "), strings.Join(in.flags, " "), strings.Join(in.args, " "), strings.Join(in.after, " ")}
		if got != [...]string{want.path, want.globals, want.flags, want.args, want.after} {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func TestArrangeRefuses(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"restroe x":                       `umbra has no command "restroe"; did you mean umbra restore?`,
		"mission lst":                     `umbra mission has no command "lst"; did you mean umbra mission ls?`,
		"new":                             `umbra has no command "new"; did you mean umbra mission new?`,
		"ls":                              "did you mean umbra mission ls?",
		"list":                            "did you mean umbra mission ls?",
		"delete x":                        "did you mean umbra mission rm?",
		"install":                         "did you mean umbra daemon install, or umbra hooks install?",
		"mission list":                    "did you mean umbra mission ls?",
		"mission ls --json=":              "--json is empty",
		"mission":                         "umbra mission needs one of: new, ls, show",
		"restore x --keep-other":          "unknown flag --keep-other of umbra restore; did you mean --keep-others?",
		"restore --keep-other x":          "unknown flag --keep-other of umbra restore; did you mean --keep-others?",
		"--keep-others restore x":         "unknown flag --keep-others",
		"mission ls -json":                "unknown flag -json of umbra mission ls; did you mean --json?",
		"restore":                         "umbra restore needs MOMENT",
		"restore --displaced=false":       "umbra restore needs MOMENT",
		"pin x":                           "umbra pin needs NAME",
		"pins x":                          `umbra pins takes no argument, and got "x"`,
		"show a b":                        `umbra show takes no more than 1, and got "b" too`,
		"snapshot -m":                     "-m needs a value",
		"mission new --name -- vim":       "--name needs a value",
		"log -n many":                     `-n is "many", which is no number`,
		"undo -n -1":                      `-n is "-1", which is no number`,
		"mission wait x --timeout 5":      `--timeout is "5", which is no duration`,
		"restore x --keep-others=perhaps": `--keep-others is "perhaps"`,
		"--home a --home b log":           `--home is given twice: "a" and "b"`,
		"fork --count=2 --count 3":        `--count is given twice: "2" and "3"`,
		"help restroe":                    `umbra has no command "restroe"`,
		"-x":                              "unknown flag -x",
		"mission show a -- b":             `umbra mission show takes no more than 1, and got "b" too`,
		"mission ls --all=":               `--all is ""`,
		"mission rename a":                "umbra mission rename needs NAME",
		"project move":                    "umbra project move needs OLD NEW",
		"log --pth x":                     "did you mean --path?",
		"fork enter --later 1":            "unknown flag --later of umbra fork",
	} {
		var g call.Globals
		_, err := arrange(allVerbs(), g.Flags(), strings.Fields(line))
		if err == nil {
			t.Errorf("%s: no error", line)
			continue
		}
		e := missions.AsError(err)
		if got := e.Message + "; " + e.Hint; !strings.Contains(got, want) || e.Kind != missions.KindUsage {
			t.Errorf("%s: %s: %q, want %q", line, e.Kind, got, want)
		}
	}
}

// Every verb's table must be one that urfave/cli takes, and that the pass can
// tell from the global flags.
func TestTablesHaveNoTwins(t *testing.T) {
	t.Parallel()
	var g call.Globals
	var check func([]*call.Verb, string)
	check = func(verbs []*call.Verb, under string) {
		for _, v := range verbs {
			seen := []string{}
			for _, f := range append(g.Flags(), v.Flags...) {
				for _, n := range f.Names() {
					if slices.Contains(seen, n) {
						t.Errorf("%s%s: two flags named %s", under, v.Name, n)
					}
					seen = append(seen, n)
				}
			}
			if v.Run == nil && len(v.Verbs) == 0 {
				t.Errorf("%s%s: does nothing, and has no verbs", under, v.Name)
			}
			check(v.Verbs, under+v.Name+" ")
		}
	}
	check(allVerbs(), "umbra ")
}

// TestEmptyValues: what a variable that is not set leaves of a flag means nothing, never
// everything.
func TestEmptyValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args   []string
		refuse bool
	}{
		{[]string{"restore", "--path", "", "@start"}, true},
		{[]string{"restore", "--path=", "@start"}, true},
		{[]string{"restore", "--path", " ", "@start"}, true},
		{[]string{"restore", "--path", "f", "@start"}, false},
		{[]string{"fork", "--workspace", ""}, true},
		{[]string{"fork", "--name="}, true},
		{[]string{"fork", "--count", "0"}, true},
		{[]string{"mission", "new", "--clone", ""}, true},
		{[]string{"mission", "new", "--prompt", ""}, false},
		{[]string{"--home=", "status"}, true},
		{[]string{"log", "-n", "0"}, true},
		{[]string{"log", "-n", "-1"}, true},
		{[]string{"undo", "-n", "0"}, true},
		{[]string{"diff", "--turn", "0"}, true},
		{[]string{"mission", "wait", "--timeout", "0s", "m"}, true},
		{[]string{"trash", "empty", "--older-than", "0s"}, false},
		{[]string{"mission", "rm", ""}, true},
		{[]string{"project", "move", "", "."}, true},
		{[]string{"config", "set", "fork.root", ""}, false},
	} {
		var g call.Globals
		_, err := arrange(allVerbs(), g.Flags(), c.args)
		if refused := err != nil && missions.AsError(err).Kind == missions.KindUsage; refused != c.refuse {
			t.Errorf("%q: %v", c.args, err)
		}
	}
}
