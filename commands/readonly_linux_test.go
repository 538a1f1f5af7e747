package commands

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/calltest"
)

// What becomes of a command in a home that can only be read.
const (
	reads   = "reads"   // it does all it does, and says in one note that nothing is written
	silent  = "silent"  // it does all it does, and has nothing to say of the home
	refused = "refused" // it does nothing, and says why and what to type
)

// inReadOnlyHome is every command, with what becomes of it: of some forms of it, two
// things.
func inReadOnlyHome() map[string][]attempt {
	one := func(outcome, line string) []attempt { return []attempt{{outcome, line, 0}} }
	return map[string][]attempt{
		"mission new":      {{refused, "--no-launch --name other -- true", 0}, {refused, "--name other -- true", 125}},
		"mission ls":       one(reads, "--all"),
		"mission show":     one(reads, "one"),
		"mission resume":   one(refused, "one -- true"),
		"mission wait":     one(reads, "one --state idle,initializing"),
		"mission stop":     one(refused, "one --force"),
		"mission rename":   one(refused, "one two"),
		"mission rm":       {{refused, "one --yes", 0}, {reads, "one --preview", 0}},
		"fork":             one(refused, "one --no-launch --name other"),
		"promote":          {{refused, "child --keep", 0}, {reads, "child --preview", 0}},
		"land":             {{refused, "child", 0}, {reads, "one --preview", 0}},
		"fork promote":     one(refused, "child --keep"),
		"merge":            {{refused, "child", 0}, {reads, "child --preview", 0}, {silent, "--status", 10}},
		"fix":              {{refused, "one --check true", 0}, {silent, "one --status", 10}},
		"contest":          {{refused, "one --prompt x --count 2", 0}, {silent, "--continue", 10}},
		"compare":          {{reads, "child", 0}, {refused, "child --check true", 0}},
		"fork run":         one(refused, "one --prompt x"),
		"fork enter":       one(refused, "one"),
		"fork exit":        one(refused, "one"),
		"keep-fork":        one("", "what umbra fork run starts for each fork"),
		"mission output":   {{silent, "one", 10}},
		"fork report":      one(refused, "child found"),
		"updates":          {{reads, "one", 0}, {refused, "one --clear", 0}},
		"project ls":       one(reads, ""),
		"project move":     one(refused, `"$WORK" /tmp`),
		"timeline":         one("", "it needs a terminal: TestStopped"),
		"watch":            one("", "it goes on until it is stopped: the script watch"),
		"snapshot":         one(refused, ""),
		"log":              {{reads, "", 0}, {reads, "--ops", 0}, {reads, "--json", 0}},
		"show":             one(reads, "one"),
		"search":           {{reads, "a.txt", 0}, {reads, "one --in files --json", 0}},
		"blame":            {{reads, "a.txt", 0}, {reads, "a.txt --at one", 0}},
		"bisect":           one(refused, "one -- true"),
		"cat":              one(reads, "one a.txt"),
		"diff":             {{reads, "one@start one", 0}, {reads, "", 0}, {reads, "pinned", 0}},
		"restore":          {{refused, "pinned --yes", 0}, {refused, "pinned --when-idle", 0}, {reads, "pinned --preview", 0}},
		"undo":             {{refused, "", 0}, {reads, "--preview", 0}},
		"redo":             one(refused, ""),
		"pin":              one(refused, "one another"),
		"unpin":            one(refused, "pinned"),
		"pins":             one(reads, ""),
		"git":              one(reads, "-- log --oneline one"),
		"status":           {{reads, "", 0}, {reads, "--statusline", 0}, {silent, "--prompt", 0}},
		"doctor":           {{reads, "", 13}, {refused, "--fix", 0}, {refused, "--rebuild", 0}},
		"config list":      one(silent, ""),
		"config get":       one(silent, "fork.guard"),
		"config set":       one(refused, "fork.guard false"),
		"config unset":     one(silent, "fork.guard"), // it is not set
		"config path":      one(silent, ""),
		"config edit":      one(refused, ""),
		"daemon run":       one(refused, ""),
		"daemon start":     one(refused, ""),
		"daemon stop":      one(silent, ""),
		"daemon status":    one(silent, ""),
		"daemon logs":      one(silent, ""),
		"daemon install":   one("", "it writes a unit of the user's, and starts what daemon run is"),
		"daemon uninstall": one("", "it removes what install made"),
		"hooks install":    one(reads, "claude"), // the agent's own settings
		"hooks uninstall":  one(reads, "claude"),
		"hooks status":     one(reads, ""),
		"hook":             {{silent, `claude <"$EVENT"`, 0}, {refused, `claude --strict <"$EVENT"`, 0}, {silent, "vim save a.txt", 0}},
		"mcp":              one(silent, "</dev/null"), // each of its tools is one of these commands
		"run-automation":   one("", "what the daemon starts after a snapshot"),
		"run-housekeeping": one("", "what a command starts that did its own work"),
		"completion":       one(silent, "bash"),
		"complete":         one(silent, "bash -- 'umbra show '"),
		"man":              one(silent, "log"),
		"version":          one(silent, ""),
		"docs-cli":         one("", "TestReference"),
		"scripted-agent":   one("", "the agent of the demo"),
		"uninstall":        {{reads, "--yes", 0}, {refused, "--data --yes", 0}},
		"du":               one(reads, ""),
		"import":           {{refused, "", 0}, {refused, "one.umbra", 0}, {reads, "--preview", 0}},
		"prune":            {{reads, "--dry-run", 0}, {reads, "", 0}},
		"remote add":       one(refused, "away /nowhere"),
		"remote ls":        one(reads, ""),
		"remote rm":        one(refused, "office"),
		"push":             one(refused, ""),
		"fetch":            one(refused, ""),
		"export":           one(refused, "one -o /tmp/one.umbra"),
		"forget":           {{silent, "a.txt", 12}},
		"trash ls":         one(reads, ""),
		"trash restore":    one(refused, "gone"),
		"trash empty":      one(refused, "--yes"),
		"demo":             one("", "it has a home of its own: TestDemo"),
	}
}

// attempt is a command line and what becomes of it. Without an outcome the line says
// why it is not tried. The code is that of what is refused, or of what is found; 0 is
// 1 where it is refused.
type attempt struct {
	outcome, line string
	code          int
}

// runnable lists the commands that do anything, by what is typed.
func runnable(verbs []*call.Verb, above string) (list []string) {
	for _, v := range verbs {
		if v.Run != nil {
			list = append(list, above+v.Name)
		}
		list = append(list, runnable(v.Verbs, above+v.Name+" ")...)
	}
	return list
}

// TestReadOnlyHome runs every command in a home whose file system can only be read.
func TestReadOnlyHome(t *testing.T) {
	t.Parallel()
	table := inReadOnlyHome()
	for _, name := range runnable(allVerbs(), "") {
		if table[name] == nil {
			t.Errorf("umbra %s: what becomes of it in a home that can only be read?", name)
		}
	}
	p := newPerson(t)
	p.readyForReading()
	var script strings.Builder
	script.WriteString("mount --bind \"$UMBRA_HOME\" \"$UMBRA_HOME\"\nmount -o remount,bind,ro \"$UMBRA_HOME\"\nexport TMPDIR=\"$OUT.tmp\" EDITOR='echo >>' EVENT=\"$OUT.event\"\nset +e\n")
	names := slices.Sorted(maps.Keys(table))
	for _, name := range names {
		for i, a := range table[name] {
			if a.outcome != "" {
				to := p.told(name, i)
				fmt.Fprintf(&script, "umbra %s %s >'%s.out' 2>'%s.err'\necho $? >'%s.code'\n", name, a.line, to, to, to)
			}
		}
	}
	before := p.survey()
	possible := p.apart(script.String())
	if !possible {
		t.Skip("a file system that can only be read needs the right to mount in a namespace of its own")
	}
	for _, name := range names {
		for i, a := range table[name] {
			if a.outcome != "" {
				a.check(p, "umbra "+name+" "+a.line, p.told(name, i), "read-only file system", "mount -o remount,rw")
			}
		}
	}
	if after := p.survey(); after != before {
		t.Errorf("something was written:\n%s\nwas\n%s", after, before)
	}
	if left, err := filepath.Glob(filepath.Join(p.base, "out.tmp", "umbra-scratch-*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
	p.must("snapshot", "-m", "when it can be written to")
	p.well()
}

// readyForReading makes what the commands of inReadOnlyHome are about.
func (p *person) readyForReading() {
	p.must("mission", "new", "--no-launch", "--name", "one", "--", "true")
	p.write("a.txt", "two\n")
	p.must("snapshot", "one", "--pin", "pinned")
	p.must("fork", "one", "--no-launch", "--name", "gone")
	p.must("mission", "rm", "gone", "--workspace", "--yes")
	p.must("fork", "one", "--no-launch", "--name", "child")
	p.must("restore", "one@start", "--yes")
	p.write("a.txt", "three\n")
	p.write("new.txt", "new\n")
	p.must("daemon", "stop")
	for _, dir := range []string{"out.tmp", "told"} {
		calltest.Must(p.T, os.Mkdir(filepath.Join(p.base, dir), 0o700))
		p.own(filepath.Join(p.base, dir))
	}
	event := fmt.Sprintf(`{"hook_event_name":"UserPromptSubmit","prompt":"x","session_id":"11111111-2222-4333-8444-555555555555","cwd":%q}`, p.work)
	calltest.Must(p.T, os.WriteFile(filepath.Join(p.base, "out.event"), []byte(event), 0o600))
	p.own(filepath.Join(p.base, "out.event"))
}

// told is where the outcome of an attempt is, but for the ending.
func (p *person) told(name string, i int) string {
	return filepath.Join(p.base, "told", fmt.Sprintf("%s.%d", strings.ReplaceAll(name, " ", "-"), i))
}

// survey is every file of the home and the workspace, with what tells whether it was
// written.
func (p *person) survey() string {
	p.Helper()
	out, err := said(p.command(p.base, "find", "umbra", "work", "-printf", `%p %y %s %T@\n`))
	calltest.Must(p.T, err)
	return out
}

func (a attempt) check(p *person, typed, to, why, hint string) {
	p.Helper()
	read := func(ending string) string {
		text, err := os.ReadFile(to + ending)
		calltest.Must(p.T, err)
		return strings.TrimSpace(string(text))
	}
	out, errs, code := read(".out"), read(".err"), read(".code")
	const note = "nothing can be written in Umbra's home"
	want, notes, ok := a.code, 1, false
	switch a.outcome {
	case reads:
		if want != 0 {
			notes = 0 // it is among what was found
		}
		ok = strings.Contains(out+errs, why) && strings.Count(errs, note) == notes
	case silent:
		ok = !strings.Contains(errs, note)
	case refused:
		want = max(want, 1)
		silence := out == "" || strings.HasPrefix(typed, "umbra uninstall") // whose other parts are not in the home
		ok = silence && strings.Contains(errs, note) && strings.Contains(errs, why) && (strings.Contains(errs, hint) || strings.Contains(typed, "--strict"))
		if strings.HasPrefix(typed, "umbra daemon start") {
			want = 14
		}
	}
	if !ok || code != fmt.Sprint(want) {
		p.Errorf("%s: %s is wanted, with code %d; it ended with %s\n%s\n%s", typed, a.outcome, want, code, out, errs)
	}
}

// unprivileged is a person whom modes of files keep out: who runs the tests, or
// nobody where that is root.
func unprivileged(t *testing.T) *person {
	t.Helper()
	if os.Geteuid() != 0 {
		return newPerson(t)
	}
	base, err := os.MkdirTemp("", "umbra-nobody-")
	calltest.Must(t, err)
	t.Cleanup(func() { calltest.Must(t, os.RemoveAll(base)) })
	base, err = filepath.EvalSymlinks(base)
	calltest.Must(t, err)
	nobody := &syscall.Credential{Uid: 65534, Gid: 65534}
	calltest.Must(t, os.Chown(base, int(nobody.Uid), int(nobody.Gid)))
	umbra, err := exec.LookPath("umbra")
	calltest.Must(t, err)
	program, err := os.ReadFile(umbra)
	calltest.Must(t, err)
	bin := filepath.Join(base, "bin")
	calltest.Must(t, os.Mkdir(bin, 0o755))
	calltest.Must(t, os.WriteFile(filepath.Join(bin, "umbra"), program, 0o755))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	try := exec.Command(filepath.Join(bin, "umbra"), "version")
	try.SysProcAttr = &syscall.SysProcAttr{Credential: nobody}
	if err := try.Run(); err != nil {
		t.Skipf("another user can't run what is below %s: %v", base, err)
	}
	return personIn(t, base, nobody)
}

// TestHomeOfAnotherMode: a home that its mode keeps its user from writing in is read,
// the daemon that serves it lives, and all goes on when it can be written in again.
func TestHomeOfAnotherMode(t *testing.T) {
	p := unprivileged(t)
	p.readyForReading()
	home := filepath.Join(p.base, "umbra")
	for _, served := range []bool{false, true} {
		if served {
			p.must("daemon", "start")
		}
		calltest.Must(t, os.Chmod(home, 0o500))
		for i, a := range []attempt{
			{reads, "log", 0}, {reads, "diff", 0}, {reads, "restore pinned --preview", 0}, {reads, "status", 0},
			{reads, "doctor", 13}, {refused, "snapshot", 0}, {refused, "config set fork.guard false", 0}, {silent, `hook claude <"$EVENT"`, 0},
		} {
			to := p.told(fmt.Sprint("mode ", served), i)
			script := p.command(p.work, "sh", "-c", fmt.Sprintf("umbra %s >'%s.out' 2>'%s.err'; echo $? >'%s.code'", a.line, to, to, to))
			script.Env = append(script.Env, "EVENT="+filepath.Join(p.base, "out.event"))
			if out, err := script.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			a.check(p, "umbra "+a.line, to, "permission denied", "chmod u+rwx")
		}
		if line := p.must("status", "--prompt"); !strings.Contains(line, "not saving: permission denied") {
			t.Errorf("the prompt says %q", line)
		}
		before := p.must("daemon", "status", "--json")
		calltest.Must(t, os.Chmod(home, 0o700))
		if after := p.must("daemon", "status", "--json"); served && pidIn(after) != pidIn(before) {
			t.Errorf("another daemon serves: %s, it was %s", after, before)
		}
		p.must("snapshot", "-m", "when it can be written to")
	}
	p.well()
}

func pidIn(status string) string {
	_, rest, _ := strings.Cut(status, `"pid":`)
	pid, _, _ := strings.Cut(rest, ",")
	return pid
}
