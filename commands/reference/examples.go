package reference

import (
	"strings"

	"github.com/umbra-vcs/umbra/commands/call"
)

// lesson is what the help of a command teaches beside its flags: command lines
// that work as they stand, which a test runs in this order, and the commands one
// looks for next.
type lesson struct {
	Path     string // the command without umbra
	Examples []string
	see      string // commands, split at commas
}

// Lessons are in the order in which a person meets them: each example finds what
// those above it have made.
func Lessons() []lesson { return append(missionLessons(), snapshotLessons()...) }

// missionLessons are about missions, and what is left of them.
func missionLessons() []lesson {
	return []lesson{
		{"mission new", []string{
			`umbra mission new --name login --prompt "add a login page"`,
			"umbra mission new --name build -- sh build.sh   # any command",
		}, "fork, mission resume, log, status"},
		{"mission ls", []string{"umbra mission ls", "umbra mission ls --tree", "umbra mission ls --all --json"}, "mission show, status, project ls"},
		{"mission show", []string{"umbra mission show login"}, "log, mission ls"},
		{"mission resume", []string{"umbra mission resume login"}, "mission new, mission stop, restore"},
		{"mission wait", []string{"umbra mission wait login --timeout 5m", "umbra mission wait login build --any --state closed"}, "mission stop, mission show"},
		{"watch", []string{"umbra watch", "umbra watch login --json"}, "log, mission wait, timeline"},
		{"mission stop", []string{"umbra mission stop login"}, "mission resume, mission rm"},
		{"mission rename", []string{"umbra mission rename build check"}, "mission ls, pin"},
		{"mission rm", []string{"umbra mission rm check --preview", "umbra mission rm check --yes"}, "mission stop, trash restore, trash empty"},
		{"trash ls", []string{"umbra trash ls"}, "trash restore, trash empty, mission rm"},
		{"trash restore", []string{"umbra trash restore check"}, "trash ls, mission resume"},
		{"trash empty", []string{"umbra trash empty --preview", "umbra trash empty --older-than 720h --yes"}, "trash ls, du"},
		{"prune", []string{"umbra prune --dry-run", "umbra prune login --keep-last 20", "umbra prune --all --keep-within 90d"}, "du, log, pins, trash empty"},
		{"import", []string{"umbra import --preview", "umbra import agents --agent claude --since 30d"}, "mission ls, mission resume, status, export"},
		{"remote add", []string{"git init -q --bare ~/missions.git; umbra remote add backup ~/missions.git", "umbra remote add team ~/missions.git --project app"}, "push, fetch, remote ls"},
		{"push", []string{"umbra push backup", "umbra push backup login --json"}, "remote add, fetch, remote ls"},
		{"fetch", []string{"umbra fetch team"}, "remote add, push, fork, log"},
		{"export", []string{"umbra export login -o ~/login.umbra", "umbra import ~/login.umbra --as mail"}, "import, push, fork"},
		{"remote ls", []string{"umbra remote ls"}, "push, fetch"},
		{"remote rm", []string{"umbra remote rm team"}, "remote add, remote ls"},
		{"du", []string{"umbra du", "umbra du --json"}, "trash empty, mission rm, doctor"},
		{"forget", []string{"umbra forget notes.txt || true # it is refused, and says what to do"}, "log, config set, uninstall"},
	}
}

// snapshotLessons are about what is in missions, and all else.
func snapshotLessons() []lesson {
	return []lesson{
		{"snapshot", []string{`umbra snapshot -m "before the merge"`, "umbra snapshot login --pin good"}, "log, pin, restore"},
		{"log", []string{"umbra log", "umbra log login -n 5 --since 2h", "umbra log login --path notes.txt -p", "umbra log --graph --all", "umbra log --conversation"}, "show, diff, timeline, git"},
		{"timeline", []string{"umbra timeline", "umbra timeline login"}, "log, show, diff"},
		{"show", []string{"umbra show login@1", "umbra show login --html review.html"}, "log, diff, cat"},
		{"search", []string{"umbra search hello", `umbra search '"Say hello"' --in prompts,answers`, "umbra search notes --mission login --since 3d"}, "log, show, blame, fork"},
		{"blame", []string{"umbra blame notes.txt", "umbra blame README.md --at login@1 -L 1,+5"}, "log, show, diff"},
		{"bisect", []string{`umbra bisect login -- "! grep -q Hello notes.txt" || true # is there a turn that broke it?`}, "blame, log, restore, fork"},
		{"cat", []string{"umbra cat login@start README.md", "umbra cat login@1.0 README.md >README.old"}, "show, restore"},
		{"diff", []string{
			"umbra diff                        # since the last prompt",
			"umbra diff login@start            # from then to now",
			"umbra diff login@1.0..login@1 --stat",
			"umbra diff login --turn 1 --conversation", "umbra diff login@1.0 -- README.md",
		}, "log, show, restore"},
		{"fork", []string{
			"umbra fork login --name other     # as it is now",
			`umbra fork login@1.0 --name again --prompt "another way, please"`,
			"umbra fork login --name try --count 2", "umbra fork --session SESSION.jsonl --at ID --json || true # from a message, as another program knows it",
		}, "fork enter, promote, fork report, mission new, mission ls, restore"},
		{"fork run", []string{
			`umbra fork run login --prompt "another way, please" --prompt "and shout it"`,
			`umbra fork run login@1 --prompt "once more" --name more --count 2 --timeout 30m`,
		}, "fork, promote, mission output, mission stop"},
		{"fork enter", []string{`umbra fork enter --topic "try it with a map"`, "umbra fork enter login@1", "umbra fork enter --in-place"}, "fork exit, fork report, promote, fork"},
		{"fork exit", []string{"umbra fork exit"}, "fork enter, fork report, promote, mission resume"},
		{"mission output", []string{"umbra mission output more-1"}, "fork run, mission show, show"},
		{"fork report", []string{`umbra fork report other "the page needs a session first"`}, "updates, promote, fork"},
		{"updates", []string{"umbra updates login", "umbra updates login --clear"}, "fork report, mission show, status"},
		{"promote", []string{"umbra promote other --preview", "umbra promote other --keep"}, "undo, fork, mission rm, diff"},
		{"compare", []string{"umbra compare other more-1", `umbra compare other more-1 --check "test -s README.md"`, "umbra compare more-1 more-2 --html forks.html"}, "promote, fork run, diff, mission output"},
		{"contest", []string{`umbra contest login --prompt "once more" --prompt "and shout it" --check "test -s README.md"`, "umbra contest --continue"}, "compare, promote, fork run"},
		{"merge", []string{"umbra merge more-1 more-2 --preview", `umbra merge more-1 more-2 --auto medium --check "test -s README.md"`}, "promote, undo, compare, diff"},
		{"fix", []string{`umbra fix login --check "test -s README.md"`,
			`umbra fix login --check "test -s README.md" --max medium=5 --backoff 10s`}, "undo, restore, compare, mission output"},
		{"land", []string{"umbra land login --preview --as turns", `umbra land login -m "Add a login page" --branch login-page`, "umbra land login --list"}, "promote, mission rm, fork, diff"},
		{"fork promote", []string{"umbra fork promote again --files-only --all --keep"}, "promote, undo"},
		{"restore", []string{
			"umbra restore login@1.0 --mission login --preview",
			"umbra restore login@1.0 --mission login --path README.md",
			"umbra restore login@1.0 --mission login --all",
		}, "undo, diff, fork, snapshot"},
		{"undo", []string{"umbra undo login"}, "redo, restore, log"},
		{"redo", []string{"umbra redo login"}, "undo, restore"},
		{"pin", []string{"umbra pin login@1 fine"}, "pins, unpin, snapshot"},
		{"pins", []string{"umbra pins"}, "pin, unpin, log"},
		{"unpin", []string{"umbra unpin fine"}, "pin, pins"},
		{"git", []string{"umbra git log --oneline --graph login other", "umbra git login log -p --stat", "umbra git show login:README.md"}, "log, show, diff"},
		{"project ls", []string{"umbra project ls"}, "project move, mission ls"},
		{"project move", []string{"mv ~/code/app ~/code/shop && umbra project move ~/code/app ~/code/shop"}, "project ls, doctor"},
		{"status", []string{"umbra status", "umbra status --prompt         # for a shell's prompt"}, "doctor, mission ls, daemon status"},
		{"doctor", []string{"umbra doctor", "umbra doctor --fix"}, "status"},
		{"config list", []string{"umbra config list"}, "config get, config set, config path"},
		{"config get", []string{"umbra config get capture.max_file_size"}, "config list, config set"},
		{"config set", []string{"umbra config set capture.max_file_size 128MiB"}, "config get, config unset, config edit"},
		{"config unset", []string{"umbra config unset capture.max_file_size"}, "config set, config list"},
		{"config path", []string{"umbra config path"}, "config edit, config list"},
		{"config edit", []string{"umbra config edit"}, "config set, config path"},
		{"hooks install", []string{"umbra hooks install claude", "umbra hooks install claude --project", "umbra hooks install vim", "umbra hooks install git"}, "hooks status, hooks uninstall, mission new"},
		{"hooks status", []string{"umbra hooks status", "umbra hooks status claude"}, "hooks install, status"},
		{"hooks uninstall", []string{"umbra hooks uninstall claude", "umbra hooks uninstall claude --project", "umbra hooks uninstall git"}, "hooks install"},
		{"hook", []string{
			`echo '{"event": "prompt", "session": "s1", "prompt": "fix it"}' | umbra hook generic`,
			`echo '{"event": "session-end", "session": "s1"}' | umbra hook generic`,
		}, "hooks install, status"},
		{"mcp", []string{`echo '{"jsonrpc": "2.0", "id": 1, "method": "ping"}' | umbra mcp`}, "hooks install, log, fork run, restore"},
		{"daemon start", []string{"umbra daemon start"}, "daemon status, daemon stop"},
		{"daemon status", []string{"umbra daemon status"}, "status, daemon logs"},
		{"daemon logs", []string{"umbra daemon logs"}, "daemon status, doctor"},
		{"daemon stop", []string{"umbra daemon stop"}, "daemon start, daemon status"},
		{"daemon run", []string{"umbra daemon run", "umbra daemon run --stay"}, "daemon start, daemon install, daemon logs"},
		{"daemon install", []string{"umbra daemon install"}, "daemon uninstall, daemon status"},
		{"daemon uninstall", []string{"umbra daemon uninstall"}, "daemon install, uninstall"},
		{"completion", []string{"umbra completion bash >umbra.bash"}, "man"},
		{"man", []string{"umbra man restore", "umbra man --dir man1"}, "completion"},
		{"version", []string{"umbra version", "umbra version --json"}, "doctor, status"},
		{"uninstall", []string{"umbra uninstall --dry-run", "umbra uninstall"}, "hooks uninstall, daemon uninstall, du"},
		{"demo", []string{"umbra demo", "umbra demo --long"}, "mission new, fork, restore"},
	}
}

// LessonOf is what there is to teach of a command, nothing if there is nothing.
func LessonOf(at []string) lesson {
	path := strings.Join(at, " ")
	for _, l := range Lessons() {
		if l.Path == path {
			return l
		}
	}
	return lesson{Path: path}
}

// Related are the commands to see as well.
func (l lesson) Related() []string {
	if l.see == "" {
		return nil
	}
	return strings.Split(l.see, ", ")
}

// Has reports whether a command is there to be run.
func Has(verbs []*call.Verb, at []string) bool {
	if len(at) == 0 {
		return false
	}
	v := call.Find(verbs, at[0])
	return v != nil && (len(at) == 1 && v.Run != nil || len(at) > 1 && Has(v.Verbs, at[1:]))
}
