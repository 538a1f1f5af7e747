package main

// A goal is one of the targets that Umbra is measured by.
type goal struct {
	id     string
	what   string
	target string
}

var goals = []goal{
	{"P1", "a hook, from the start of its process to the acknowledged snapshot; 1 file changed, daemon warm", "T100k: p50 ≤ 10 ms, p95 ≤ 20 ms, ≥ 40× faster than native git; T10k: ≥ 8×"},
	{"P2", "the same with 100 files changed, and with none", "T100k: ≥ 12× and ≥ 30× faster than native git"},
	{"P3", "how P1 grows with the tree", "T100k ≤ 1.3 × T1k"},
	{"P4", "first snapshot, durable, with nothing to borrow from", "≥ 3.5× faster than native git, which does not fsync; ≤ 100 MB of memory at any size"},
	{"P5", "first snapshot of a clean Git checkout", "≥ 20× faster than native git; no file read whose content Git knows"},
	{"P6", "full walk that proves that nothing changed", "≤ 100 ms for 100,000 files; ≥ 3× faster than `git status`"},
	{"P7", "restore, safety snapshot included; 1 and 100 files differ", "T100k: ≥ 30× and ≥ 8× faster than `git read-tree -u --reset`"},
	{"P8", "fork of a live workspace, files only", "≤ 0.6 × `cp -a`, ≤ 0.3 × `git worktree add`"},
	{"P9", "a conversation of 200 MB: snapshot after 10 KiB were appended, and fork", "≤ 5 ms; ≥ 400 MB/s"},
	{"P10", "the daemon with T100k watched", "≤ 80 MB resident, flat over the snapshots; no processor time when idle"},
	{"P11", "1,000 snapshots of 1 file changed in T10k", "`git log` and `umbra log` ≤ 50 ms; repository ≤ 1.2 × what a fresh `git gc` gives; nothing left over"},
	{"P12", "50 missions in 5 workspaces, all at work", "a hook's p95 ≤ 50 ms; nothing lost"},
	{"P13", "`umbra --version`", "≤ 5 × a Go hello"},
	{"P14", "`git commit` of 1 file with the hooks of `umbra hooks install git`, snapshot included", "adds ≤ 15 ms"},
	{"P15", "a search in conversations, indexed, for words, pairs of words and phrases that were said somewhere", "p95 ≤ 50 ms; index ≤ 10 % of the text; ≤ 100 MB of memory"},
	{"P16", "a prune of 10,000 snapshots of T10k by the default policy, with 5 MB files among them that were written anew, while an agent works", "a hook's p95 ≤ 20 ms; repository ≤ 1.1 × what a fresh `git gc` gives; every kept snapshot restores exactly"},
}

func goalOf(id string) goal {
	for _, g := range goals {
		if g.id == id {
			return g
		}
	}
	return goal{id: id}
}
