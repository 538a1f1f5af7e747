package main

// module is the import path that every package of Umbra begins with.
const module = "github.com/umbra-vcs/umbra"

// A rule says what one package may import of Umbra, and why no more.
type rule struct {
	pkg     string   // below the module; "" is the main package
	may     []string // packages below the module
	purpose string   // what the design says the package owns
}

// leaves are the packages under gitstore that import nothing of Umbra, but for
// how files are opened and the points at which they may be killed.
var leaves = []string{"gitstore/attributes", "gitstore/beneath", "gitstore/databases", "gitstore/disk", "gitstore/durable", "gitstore/failpoint", "gitstore/flock", "gitstore/git", "gitstore/histories", "gitstore/ignore", "gitstore/journal", "gitstore/lock", "gitstore/secretnames", "gitstore/treepath", "gitstore/usergit", "gitstore/uuid"}

// shared is what adapters may import: what is common to agents, never each other.
var shared = []string{"sessions", "sessions/jsontext", "sessions/jsonlines", "sessions/hooks", "sessions/cmdline", "sessions/parts", "sessions/secrets"}

// rules are the arrows of the design: a package that is not here may not be.
var rules = []rule{
	{"", []string{"commands"}, "main only exits with what commands.Main returns"},
	{"commands", []string{"commands/automations", "commands/bisect", "commands/call", "commands/complete", "commands/config", "commands/connect", "commands/contests", "commands/daemon", "commands/demo", "commands/fixes", "commands/flags", "commands/history", "commands/hook", "commands/hooks", "commands/keeper", "commands/land", "commands/mcp", "commands/merges", "commands/mission", "commands/payload", "commands/print", "commands/reference", "commands/remotes", "commands/restores", "commands/status", "commands/timeline", "commands/uninstall", "commands/updates", "commands/upkeep", "commands/version", "commands/watch", "missions", "missions/addresses", "missions/home"}, "one way in: flags become one call of missions.Service, or of settings, nothing else beneath it is touched"},
	{"commands/call", []string{"commands/flags", "commands/highlight", "commands/print", "commands/fields", "missions", "missions/home", "missions/projects"}, "one run of a verb: its world, arguments and output; it knows no verb"},
	{"commands/calltest", []string{"commands/call", "commands/print", "missions"}, "the world of a command, for tests"},
	{"commands/forks", []string{"commands/call", "commands/flags", "commands/keeper", "commands/print", "commands/wording", "missions", "missions/home", "missions/settings"}, "background forks, and how forks are printed; it runs no agent"},
	{"commands/flags", []string{"missions"}, "a leaf: the flags of a verb's table, and what values they take"},
	{"commands/fields", []string{"missions"}, "a leaf: the fields of a result in JSON that its user asks for"},
	{"commands/print", []string{"commands/highlight", "missions"}, "what people read, in lines, columns and patches; it knows no verb"},
	{"commands/remotes", []string{"commands/call", "commands/flags", "commands/print", "missions"}, "remote, push, fetch, and what they print"},
	{"commands/restores", []string{"commands/call", "commands/flags", "commands/print", "missions"}, "restore, undo, redo and promote, and what they print"},
	{"commands/automations", []string{"commands/call", "commands/print", "missions", "missions/agents", "watcher/daemon"}, "runs commands of the user's, each in a process of its own"},
	{"commands/connect", []string{"commands/automations", "commands/call", "commands/version", "missions", "missions/home", "missions/local", "missions/projects", "missions/settings", "watcher/client", "watcher/daemon"}, "decides where the Service of a command runs, and begins it there"},
	{"commands/version", []string{"commands/call"}, "what a program knows of how it was built"},
	{"commands/wording", []string{"commands/print", "missions"}, "how several verbs put the same thing; it asks for nothing"},
	{"commands/demo", []string{"commands/call", "commands/flags", "commands/print", "commands/wording", "missions", "missions/home"}, "shows what Umbra does, by the commands themselves and a scripted agent"},
	{"commands/keeper", []string{"commands/call", "commands/flags", "commands/print", "missions", "missions/agents"}, "owns the terminal that an agent runs in"},
	{"commands/plugin", []string{"commands/call", "gitstore/lock", "missions", "missions/presence", "missions/projects", "sessions", "sessions/hooks"}, "what an agent's plugin calls: whether the agent calls it otherwise too"},
	{"commands/hook", []string{"commands/call", "commands/connect", "commands/flags", "commands/payload", "commands/plugin", "commands/print", "commands/version", "commands/wording", "missions", "missions/events", "missions/home", "missions/presence", "missions/worktrees", "watcher/client"}, "events of agents and hints of editors, on the way that they wait for"},
	{"commands/status", []string{"commands/call", "commands/flags", "commands/hook", "commands/payload", "commands/print", "commands/version", "commands/wording", "missions", "missions/home", "watcher/client"}, "what runs here, whole, in a line or in a prompt"},
	{"commands/config", []string{"commands/call", "commands/flags", "commands/print", "missions", "missions/home", "missions/projects", "missions/settings"}, "the verbs that show and change what can be configured"},
	{"commands/contests", []string{"commands/call", "commands/flags", "commands/forks", "commands/print", "commands/webpage", "missions", "missions/checks", "missions/home"}, "the verbs that hold forks against each other and against a check"},
	{"commands/bisect", []string{"commands/call", "commands/flags", "commands/print", "missions", "missions/bisections", "missions/checks", "missions/home"}, "finds the turn that broke something: runs the user's command in workspaces of its own"},
	{"commands/land", []string{"commands/call", "commands/flags", "commands/print", "missions", "missions/commits", "missions/home"}, "makes commits of a mission's work, in this process: git may ask its user"},
	{"commands/daemon", []string{"commands/automations", "commands/call", "commands/connect", "commands/flags", "commands/print", "commands/units", "missions", "missions/home", "watcher/client", "watcher/daemon"}, "the verbs of the background process"},
	{"commands/merges", []string{"commands/call", "commands/flags", "commands/forks", "commands/print", "missions", "missions/checks", "missions/home"}, "the verb that merges missions, and runs the check on what it merged"},
	{"commands/fixes", []string{"commands/call", "commands/flags", "commands/forks", "commands/print", "missions", "missions/checks", "missions/findings", "missions/fixes", "missions/home"}, "the verb that has an agent mend what a check or a reviewer finds; it runs the check, no agent"},
	{"commands/mcp", []string{"commands/call", "commands/flags", "commands/plugin", "commands/restores", "commands/version", "missions", "missions/home", "missions/presence"}, "tools that an agent calls: each is a command line of Umbra's own"},
	{"commands/hooks", []string{"commands/call", "commands/flags", "commands/print", "missions"}, "the verbs that install hooks and take them out"},
	{"commands/watch", []string{"commands/call", "commands/flags", "commands/print", "commands/wording", "missions"}, "tells what happens, for people and other programs"},
	{"commands/webpage", []string{"commands/call", "commands/flags", "commands/highlight", "commands/print", "missions"}, "what a command shows, as one page for a browser"},
	{"commands/history", []string{"commands/call", "commands/flags", "commands/print", "commands/webpage", "commands/wording", "missions", "missions/home"}, "the verbs that take, name and look at snapshots"},
	{"commands/upkeep", []string{"commands/call", "commands/flags", "commands/print", "commands/wording", "missions", "missions/home", "missions/settings"}, "the verbs that keep Umbra's home: doctor, du, forget, prune, trash"},
	{"commands/mission", []string{"commands/call", "commands/flags", "commands/forks", "commands/keeper", "commands/land", "commands/print", "commands/restores", "commands/updates", "commands/wording", "missions", "missions/home", "missions/projects", "missions/settings"}, "the verbs of missions, forks and projects"},
	{"commands/timeline", []string{"commands/call", "commands/contests", "commands/forks", "commands/highlight", "commands/keeper", "commands/merges", "commands/mission", "commands/print", "commands/restores", "commands/tui", "commands/updates", "commands/wording", "missions"}, "opens the terminal interface, and does outside of it what it asks for"},
	{"commands/complete", []string{"commands/call", "commands/flags", "commands/history", "commands/print", "commands/reference", "commands/wording", "missions", "missions/events", "missions/home", "missions/projects", "missions/settings"}, "answers a shell that completes a command line"},
	{"commands/reference", []string{"commands/call", "commands/flags", "commands/print", "missions"}, "teaches the command line, of the verbs that it is given"},
	{"commands/uninstall", []string{"commands/call", "commands/complete", "commands/connect", "commands/daemon", "commands/flags", "commands/print", "commands/reference", "commands/wording", "missions", "missions/events", "missions/home", "missions/projects", "watcher/client"}, "takes Umbra out of everything it was put into"},
	{"commands/clockwork", []string{"commands"}, "main with a clock that can be set back, for scripts/endure: no more than main may"},
	{"commands/highlight", []string{"missions"}, "what the pieces of source and of patches are, for whoever paints them"},
	{"commands/payload", []string{"missions"}, "the event that an agent gives its hook on stdin, and how long that may take"},
	{"commands/updates", []string{"commands/call", "commands/flags", "commands/print", "commands/wording", "missions"}, "what missions tell the agents of others: a fork's report, and what waits"},
	{"commands/units", nil, "the texts of the units that start the daemon at login"},
	{"commands/tui", []string{"commands/highlight", "missions"}, "the terminal interface shows what missions.Service tells it"},
	{"missions", nil, "the words, pure: the Service, requests and results, the lifecycle; it opens no file"},
	{"missions/home", []string{"gitstore/beneath", "gitstore/capture", "gitstore/disk", "gitstore/journal", "gitstore/lock", "missions", "missions/settings", "missions/userfile"}, "Umbra's directory: layout, lock, room on the disk, the configuration that counts"},
	{"missions/callbacks", []string{"missions", "missions/settings", "sessions", "sessions/secrets"}, "runs programs of the user's that copy conversations; it knows no mission"},
	{"missions/checks", []string{"gitstore/disk", "gitstore/lock", "missions", "missions/home", "missions/settings", "sessions/secrets"}, "runs a command of the user's that says whether a workspace is good"},
	{"missions/syntax", []string{}, "says whether a text parses in its language, by the standard library; it opens no file"},
	{"missions/bisections", []string{"missions"}, "pure: which states to check next, and where good ones become bad"},
	{"missions/findings", []string{"missions"}, "reads what checks and linters say is wrong; it opens no file"},
	{"missions/fixes", []string{"gitstore/flock", "gitstore/journal", "missions", "missions/findings"}, "the loop that has an agent mend findings: limits, attempts, state; it runs nothing"},
	{"missions/projects", []string{"gitstore", "gitstore/beneath", "gitstore/capture", "gitstore/disk", "gitstore/failpoint", "gitstore/fork", "gitstore/journal", "gitstore/lock", "gitstore/objects", "gitstore/records", "gitstore/shadow", "gitstore/upkeep", "gitstore/usergit", "missions", "missions/home", "missions/settings", "missions/userfile", "sessions", "sessions/claude", "sessions/codex", "sessions/copilot", "sessions/gemini", "sessions/generic", "sessions/jsontext", "sessions/opencode", "sessions/pi", "sessions/qwen", "sessions/secrets"}, "projects and missions on disk, and the Desk that the rooms are built on"},
	{"missions/addresses", []string{"gitstore", "gitstore/failpoint", "gitstore/lock", "gitstore/shadow", "missions", "missions/home", "missions/projects"}, "finds what was typed: missions, moments, pins; gives names that are free"},
	{"missions/conversations", []string{"gitstore", "gitstore/disk", "gitstore/journal", "gitstore/records", "gitstore/shadow", "missions", "missions/addresses", "missions/callbacks", "missions/home", "missions/projects", "missions/userfile", "sessions"}, "one conversation across files, cuts and copies"},
	{"missions/snapshots", []string{"gitstore", "gitstore/beneath", "gitstore/capture", "gitstore/diff", "gitstore/disk", "gitstore/documents", "gitstore/failpoint", "gitstore/git", "gitstore/ignore", "gitstore/journal", "gitstore/lock", "gitstore/objects", "gitstore/records", "gitstore/restore", "gitstore/secretnames", "gitstore/shadow", "gitstore/usergit", "missions", "missions/addresses", "missions/conversations", "missions/home", "missions/projects", "missions/settings", "sessions"}, "from workspace to published snapshot; the only mover of missions' refs"},
	{"missions/updates", []string{"gitstore", "gitstore/disk", "gitstore/failpoint", "gitstore/journal", "missions", "missions/addresses", "missions/conversations", "missions/home", "missions/projects", "sessions"}, "what missions tell the agents of others: queued, delivered, taken out"},
	{"missions/presence", []string{"gitstore", "gitstore/ignore", "gitstore/lock", "gitstore/upkeep", "missions", "missions/conversations", "missions/home", "missions/projects", "missions/snapshots", "missions/updates", "sessions"}, "is the agent there, does it work, ask or wait"},
	{"missions/comparisons", []string{"gitstore", "gitstore/diff", "missions", "missions/addresses", "missions/conversations", "missions/presence", "missions/projects", "missions/snapshots"}, "trees and forks beside each other; it changes nothing, and runs no check"},
	{"missions/agents", []string{"gitstore", "gitstore/capture", "gitstore/disk", "gitstore/failpoint", "gitstore/lock", "gitstore/records", "gitstore/secretnames", "gitstore/shadow", "gitstore/upkeep", "missions", "missions/addresses", "missions/conversations", "missions/home", "missions/presence", "missions/projects", "missions/settings", "missions/snapshots", "missions/updates", "sessions", "sessions/claude", "sessions/secrets"}, "begins missions, launches their agents, keeps their configuration"},
	{"missions/restores", []string{"gitstore", "gitstore/beneath", "gitstore/documents", "gitstore/failpoint", "gitstore/git", "gitstore/journal", "gitstore/lock", "gitstore/merge", "gitstore/records", "gitstore/restore", "gitstore/shadow", "missions", "missions/addresses", "missions/agents", "missions/conversations", "missions/home", "missions/presence", "missions/projects", "missions/snapshots", "missions/updates", "sessions"}, "plans a restore, does it, takes it back"},
	{"missions/handovers", []string{"gitstore", "gitstore/failpoint", "gitstore/journal", "gitstore/lock", "gitstore/shadow", "missions", "missions/addresses", "missions/agents", "missions/conversations", "missions/home", "missions/presence", "missions/projects", "missions/restores", "missions/snapshots", "sessions"}, "when a restore is done: now, at the turn's end, or beneath the agent"},
	{"missions/moves", []string{"gitstore", "gitstore/beneath", "gitstore/capture", "gitstore/git", "gitstore/lock", "gitstore/usergit", "missions", "missions/agents", "missions/home", "missions/presence", "missions/projects", "missions/snapshots"}, "missions go on where their workspaces are now"},
	{"missions/expiry", nil, "pure: for how long things are what they are, until they go by themselves"},
	{"missions/trash", []string{"gitstore", "gitstore/beneath", "gitstore/disk", "gitstore/documents", "gitstore/failpoint", "gitstore/flock", "gitstore/fork", "gitstore/journal", "gitstore/lock", "missions", "missions/addresses", "missions/agents", "missions/conversations", "missions/expiry", "missions/home", "missions/presence", "missions/projects", "missions/restores", "missions/settings", "missions/snapshots"}, "removes missions, brings them back, empties the trash"},
	{"missions/forks", []string{"gitstore", "gitstore/beneath", "gitstore/capture", "gitstore/disk", "gitstore/failpoint", "gitstore/fork", "gitstore/journal", "gitstore/lock", "gitstore/records", "gitstore/shadow", "gitstore/usergit", "missions", "missions/addresses", "missions/agents", "missions/conversations", "missions/home", "missions/presence", "missions/projects", "missions/settings", "missions/snapshots", "missions/trash", "missions/updates", "sessions", "sessions/jsonlines"}, "a moment to a new mission; a lost workspace made again"},
	{"missions/promotes", []string{"gitstore", "gitstore/git", "gitstore/usergit", "missions", "missions/addresses", "missions/handovers", "missions/home", "missions/presence", "missions/projects", "missions/restores", "missions/snapshots"}, "a fork's state becomes its parent's"},
	{"missions/searches", []string{"gitstore", "gitstore/disk", "gitstore/journal", "gitstore/records", "missions", "missions/addresses", "missions/conversations", "missions/projects", "missions/searches/trigrams", "sessions"}, "finds the moments at which something was said or done; it changes nothing but its cache"},
	{"missions/searches/trigrams", []string{"gitstore/disk", "gitstore/journal"}, "a cache: which pieces of conversations can't have what is looked for"},
	{"missions/authorship", []string{"gitstore", "gitstore/diff", "gitstore/git", "gitstore/shadow", "missions", "missions/addresses", "missions/comparisons", "missions/home", "missions/presence", "missions/projects", "missions/snapshots"}, "which turn wrote each line of a file, by what the file held; it changes nothing"},
	{"missions/landings", []string{"gitstore", "missions", "missions/addresses", "missions/presence", "missions/projects", "missions/snapshots"}, "lists the work of missions, turn by turn; it makes no commit"},
	{"missions/commits", []string{"gitstore/git", "gitstore/usergit", "missions", "missions/home"}, "commits of that work, by the user's own git, in the process of the command"},
	{"missions/retention", []string{"gitstore"}, "pure: which snapshots stay when old ones are pruned, and why"},
	{"missions/prunes", []string{"gitstore", "gitstore/disk", "gitstore/journal", "gitstore/lock", "gitstore/records", "gitstore/shadow", "gitstore/upkeep", "missions", "missions/addresses", "missions/home", "missions/presence", "missions/projects", "missions/remotes", "missions/retention", "missions/settings"}, "drops old snapshots: gathers who relies on them, marks, has it given back"},
	{"missions/imports", []string{"gitstore", "gitstore/disk", "gitstore/journal", "gitstore/lock", "gitstore/records", "missions", "missions/agents", "missions/home", "missions/projects", "missions/snapshots", "sessions"}, "sessions in the agents' own stores become missions; nothing is written there"},
	{"missions/excerpts", []string{"gitstore", "gitstore/shadow", "missions", "missions/projects"}, "copies missions without their conversations, to leave so; it changes nothing here"},
	{"missions/remotes", []string{"gitstore", "gitstore/capture", "gitstore/disk", "gitstore/failpoint", "gitstore/git", "gitstore/journal", "gitstore/lock", "gitstore/seal", "gitstore/secretnames", "gitstore/shadow", "gitstore/transfer", "gitstore/upkeep", "gitstore/usergit", "missions", "missions/addresses", "missions/excerpts", "missions/home", "missions/projects", "missions/snapshots", "sessions/secrets"}, "missions are carried to other machines and back; it overwrites nothing"},
	{"missions/sideforks", []string{"gitstore", "gitstore/shadow", "missions", "missions/addresses", "missions/agents", "missions/forks", "missions/handovers", "missions/presence", "missions/projects", "missions/promotes", "missions/restores", "missions/snapshots", "missions/updates"}, "a terminal serves a fork of its mission for a while"},
	{"missions/merges", []string{"gitstore", "gitstore/databases", "gitstore/documents", "gitstore/failpoint", "gitstore/git", "gitstore/journal", "gitstore/lock", "gitstore/merge", "gitstore/records", "gitstore/restore", "gitstore/shadow", "missions", "missions/addresses", "missions/forks", "missions/handovers", "missions/home", "missions/presence", "missions/projects", "missions/promotes", "missions/restores", "missions/snapshots", "missions/syntax", "missions/updates"}, "missions into one: what is taken, what is asked, what was chosen"},
	{"missions/worktrees", []string{"gitstore", "gitstore/disk", "gitstore/git", "gitstore/journal", "gitstore/lock", "gitstore/usergit", "missions", "missions/addresses", "missions/agents", "missions/forks", "missions/home", "missions/projects", "missions/snapshots", "missions/trash", "sessions"}, "the worktrees that agents ask for are forks; where none can be made, Git's"},
	{"missions/events", []string{"gitstore/lock", "gitstore/upkeep", "gitstore/usergit", "missions", "missions/addresses", "missions/agents", "missions/conversations", "missions/editors", "missions/handovers", "missions/home", "missions/moves", "missions/presence", "missions/projects", "missions/snapshots", "missions/updates", "missions/worktrees", "sessions"}, "what agents, editors and the watcher tell, and what it means"},
	{"missions/hooks", []string{"gitstore/journal", "gitstore/lock", "gitstore/usergit", "missions", "missions/agents", "missions/editors", "missions/events", "missions/home", "missions/projects", "missions/userfile", "sessions"}, "hooks and plugins: installed, checked, taken out"},
	{"missions/history", []string{"gitstore", "gitstore/diff", "gitstore/documents", "gitstore/git", "gitstore/journal", "gitstore/records", "gitstore/upkeep", "missions", "missions/addresses", "missions/agents", "missions/comparisons", "missions/conversations", "missions/forks", "missions/home", "missions/hooks", "missions/presence", "missions/projects", "missions/remotes", "missions/restores", "missions/snapshots", "missions/userfile", "missions/worktrees", "sessions"}, "log, show, cat, diff, trail, status, du, forget: it changes nothing"},
	{"missions/retires", []string{"gitstore", "gitstore/journal", "missions", "missions/commits", "missions/expiry", "missions/presence", "missions/projects", "missions/restores", "missions/settings", "missions/trash"}, "forks that are over go to the trash by themselves"},
	{"missions/doctor", []string{"gitstore", "gitstore/beneath", "gitstore/borrow", "gitstore/capture", "gitstore/diff", "gitstore/disk", "gitstore/journal", "gitstore/lock", "gitstore/objects", "gitstore/records", "gitstore/shadow", "gitstore/upkeep", "gitstore/usergit", "missions", "missions/agents", "missions/checks", "missions/comparisons", "missions/conversations", "missions/forks", "missions/handovers", "missions/history", "missions/home", "missions/hooks", "missions/imports", "missions/moves", "missions/presence", "missions/projects", "missions/prunes", "missions/remotes", "missions/restores", "missions/retires", "missions/searches", "missions/snapshots", "missions/trash", "missions/worktrees"}, "checks the invariants and mends what can be mended"},
	{"missions/local", []string{"gitstore", "gitstore/beneath", "gitstore/capture", "gitstore/documents", "gitstore/fork", "gitstore/journal", "gitstore/lock", "gitstore/records", "gitstore/restore", "gitstore/shadow", "missions", "missions/addresses", "missions/agents", "missions/authorship", "missions/commits", "missions/comparisons", "missions/conversations", "missions/doctor", "missions/editors", "missions/events", "missions/forks", "missions/handovers", "missions/history", "missions/home", "missions/hooks", "missions/imports", "missions/landings", "missions/merges", "missions/moves", "missions/presence", "missions/projects", "missions/promotes", "missions/prunes", "missions/remotes", "missions/restores", "missions/retires", "missions/searches", "missions/settings", "missions/sideforks", "missions/snapshots", "missions/trash", "missions/updates", "missions/userfile", "missions/worktrees", "sessions", "sessions/claude", "sessions/codex", "sessions/generic"}, "puts the rooms together; it has no rules"},
	{"missions/settings", []string{"gitstore/secretnames", "gitstore/usergit", "missions/userfile"}, "what can be configured; who is configured asks it, never the reverse"},
	{"missions/userfile", []string{"gitstore/disk", "gitstore/journal"}, "the files of the user's that Umbra changes a part of, whatever is in them"},
	{"missions/editors", nil, "a leaf: what editors are given, and where it goes"},
	{"missions/servicetest", []string{"missions", "missions/home"}, "the contract of missions.Service, which each implementation's tests run"},
	{"gitstore", []string{"gitstore/beneath", "gitstore/uuid"}, "the words of the shadow repository, which knows nothing of agents and missions"},
	{"gitstore/objects", []string{"gitstore", "gitstore/disk", "gitstore/durable", "gitstore/failpoint", "gitstore/flock", "gitstore/git", "gitstore/usergit"}, "objects of a repository, read and proved, and packs written"},
	{"gitstore/shadow", list(leaves, "gitstore", "gitstore/objects"), "the shadow repository: refs, snapshots, records, and what is made durable with them"},
	{"gitstore/documents", []string{"gitstore", "gitstore/beneath", "gitstore/ignore", "gitstore/secretnames", "gitstore/treepath"}, "what a record says beside its tree: rules, what was left out, modes"},
	{"gitstore/capture", list(leaves, "gitstore", "gitstore/borrow", "gitstore/documents", "gitstore/objects", "gitstore/shadow"), "workspace to tree"},
	{"gitstore/restore", list(leaves, "gitstore", "gitstore/capture", "gitstore/documents", "gitstore/shadow"), "plan, apply, recover"},
	{"gitstore/fork", list(leaves, "gitstore", "gitstore/capture", "gitstore/documents", "gitstore/filecopy", "gitstore/gitdir", "gitstore/objects", "gitstore/restore", "gitstore/shadow"), "materialises a workspace"},
	{"gitstore/gitdir", []string{"gitstore/beneath", "gitstore/git"}, "a git directory of which a copy is made: its parts, and the settings that name places"},
	{"gitstore/records", []string{"gitstore", "gitstore/shadow"}, "what a record holds: its tree, the conversation in chunks"},
	{"gitstore/storetest", []string{"gitstore", "gitstore/shadow"}, "repositories for the tests of the rooms above gitstore"},
	{"gitstore/diff", []string{"gitstore", "gitstore/git", "gitstore/shadow"}, "trees compared for people, by git"},
	{"gitstore/merge", []string{"gitstore", "gitstore/databases", "gitstore/documents", "gitstore/git", "gitstore/records", "gitstore/shadow"}, "two trees of one base become one, by git"},
	{"gitstore/upkeep", list(leaves, "gitstore", "gitstore/objects", "gitstore/shadow"), "checks, repacks, sweeps: the shadow repository kept in order"},
	{"gitstore/borrow", list(leaves, "gitstore", "gitstore/objects", "gitstore/shadow", "gitstore/upkeep"), "objects of the user's, linked and proved later"},
	{"gitstore/seal", []string{"gitstore/disk", "gitstore/journal"}, "encrypts files for the holders of a key, by age"},
	{"gitstore/transfer", list(leaves, "gitstore", "gitstore/objects", "gitstore/shadow"), "commits sent to other repositories and brought from them, by git"},
	{"gitstore/index", []string{"gitstore", "gitstore/failpoint"}, "a cache of what the refs say"},
	{"gitstore/filecopy", []string{"gitstore/beneath"}, "a leaf: the content of an open file, copied with its holes, or its blocks shared"},
	{"gitstore/attributes", []string{"gitstore/beneath"}, "a leaf: what files have beside name and content, kept and given back without widening rights"},
	{"gitstore/beneath", []string{"gitstore/uuid"}, "a leaf: file-system operations confined below a root"},
	{"gitstore/databases", nil, "a leaf: which files are one SQLite database"},
	{"gitstore/disk", nil, "a leaf: opens files without the runtime's poller"},
	{"gitstore/durable", []string{"gitstore/disk", "gitstore/failpoint"}, "a leaf: fsync, and how often"},
	{"gitstore/failpoint", nil, "a leaf: nothing at all, but in the build that scripts/crash kills"},
	{"gitstore/flock", []string{"gitstore/disk"}, "a leaf: who is at work on a file, by its flock"},
	{"gitstore/git", nil, "a leaf: runs the git program, hermetically"},
	{"gitstore/histories", nil, "a leaf: in which directories version systems keep commits"},
	{"gitstore/ignore", nil, "a leaf: ignore rules"},
	{"gitstore/journal", []string{"gitstore/disk", "gitstore/failpoint", "gitstore/uuid"}, "a leaf: durable writes outside the object store"},
	{"gitstore/lock", []string{"gitstore/disk"}, "a leaf: kernel locks"},
	{"gitstore/secretnames", nil, "a leaf: by which names files are taken to hold credentials"},
	{"gitstore/uuid", nil, "a leaf: the ids of projects, missions and operations"},
	{"gitstore/treepath", nil, "a leaf: paths of a tree, taken apart and put together"},
	{"gitstore/usergit", nil, "a leaf: reads the user's repository"},
	{"sessions/sessionstest", []string{"sessions"}, "the contract suite of adapters knows no agent"},
	{"sessions", nil, "what all agents' conversation files have in common"},
	{"sessions/jsontext", []string{"sessions/secrets"}, "JSON read and edited where it stands"},
	{"sessions/secrets", nil, "a leaf: secrets found in a text by their look, whatever the text is of"},
	{"sessions/jsonlines", []string{"sessions", "sessions/jsontext"}, "conversations of a JSON object a line, whatever the agent"},
	{"sessions/cmdline", nil, "a leaf: the command lines of agents, read and kept as they were typed"},
	{"sessions/parts", []string{"sessions/jsonlines", "sessions/jsontext"}, "what messages of Gemini CLI, and of agents that came of it, consist of"},
	{"sessions/hooks", []string{"sessions", "sessions/jsontext"}, "hooks that follow Claude Code's: settings files, scripts that tell of events, and replies, whatever the agent"},
	{"sessions/claude", shared, "an adapter returns files to place or a command to run, and writes nothing"},
	{"sessions/codex", shared, "an adapter returns files to place or a command to run, and writes nothing"},
	{"sessions/gemini", shared, "an adapter returns files to place or a command to run, and writes nothing"},
	{"sessions/generic", shared, "an adapter returns files to place or a command to run, and writes nothing"},
	{"sessions/opencode", shared, "an adapter returns files to place or a command to run, and writes nothing"},
	{"sessions/copilot", shared, "an adapter returns files to place or a command to run, and writes nothing"},
	{"sessions/qwen", shared, "an adapter returns files to place or a command to run, and writes nothing"},
	{"sessions/pi", shared, "an adapter returns files to place or a command to run, and writes nothing"},
	{"watcher", nil, "paths and time: it knows no Git, agent or mission, and is given a predicate for ignored directories"},
	{"watcher/api", nil, "the wire types, which a lean client can import alone"},
	{"watcher/client", []string{"missions", "missions/home", "watcher/api"}, "speaks the wire types and implements missions.Service over them"},
	{"watcher/daemon", []string{"gitstore/index", "missions", "missions/agents", "missions/doctor", "missions/events", "missions/home", "missions/local", "missions/projects", "missions/prunes", "missions/settings", "missions/snapshots", "watcher", "watcher/api"}, "the background process injects watcher and index into missions"},
}

// suites are packages of checks: only test files beside them may import them.
var suites = []string{"commands/calltest", "gitstore/storetest", "missions/servicetest", "sessions/sessionstest"}

// An arrow leads from a package to one that it imports.
type arrow struct{ from, to string }

// together are the arrows that only tests may follow: the two sides of the
// socket are tested against each other, and what both implement by one suite.
var together = []arrow{
	{"commands/mcp", "commands"},
	{"commands/mcp", "commands/connect"},
	{"watcher/daemon", "watcher/client"},
	{"watcher/daemon", "missions/servicetest"},
}

// A party is a third-party module and the one package that imports it.
type party struct {
	path string
	by   string
}

// parties hold the rule that each third-party package has one importing
// package, so that its traps are known, and avoided, in one place.
var parties = []party{
	{"charm.land/bubbletea", "commands/tui"},
	{"github.com/alecthomas/chroma", "commands/highlight"},
	{"github.com/charmbracelet", "commands/tui"},
	{"github.com/dgraph-io/badger", "gitstore/index"},
	{"github.com/fsnotify/fsnotify", "watcher"},
	{"filippo.io/age", "gitstore/seal"},
	{"github.com/go-git/gcfg", "gitstore/shadow"},
	{"github.com/go-git/go-git/v5/plumbing/format/config", "gitstore/shadow"},
	{"github.com/go-git", "gitstore/objects"},
	{"github.com/google/jsonschema-go", "commands/mcp"},
	{"github.com/google/uuid", "missions"},
	{"github.com/klauspost/compress", "gitstore/objects"},
	{"github.com/modelcontextprotocol/go-sdk", "commands/mcp"},
	{"github.com/pelletier/go-toml", "sessions/codex"},
	{"github.com/pjbgf/sha1cd", "gitstore"},
	{"github.com/urfave/cli", "commands/flags"},
	{"go.yaml.in/yaml", "missions/settings"},
}

// anywhere are third-party modules that every package may import.
var anywhere = []string{"golang.org/x"}

// testOnly are third-party modules that only test files may import. The
// packages below scripts are the same to the packages of the program.
var testOnly = []string{"github.com/rogpeppe/go-internal", "pgregory.net/rapid"}

func list(names []string, more ...string) []string {
	return append(append([]string{}, names...), more...)
}
