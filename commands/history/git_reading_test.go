package history

import (
	"strings"
	"testing"
)

func TestOnlyReads(t *testing.T) {
	t.Parallel()
	for line, reads := range map[string]bool{
		"log -p": true, "log --oneline -n 5 one": true, "diff one~1 one": true, "show one:a.txt": true, "branch": true, "branch -a": true,
		"branch --list f*": true, "rev-parse one": true, "ls-tree -r one": true, "cat-file -p one": true, "fsck --full": true,
		"log -- --output=x": true, "branch -v": true, "branch --contains one": true, "grep -o x one": true,
		"log --output=x": false, "diff --outpu x": false, "log --output x": false, "show -ox": false, "diff -o x": false,
		"branch new": false, "branch -D one": false, "branch -m a b": false, "branch -v new": false, "branch --edit-description": false,
		"config user.name": false, "gc": false, "update-ref a b": false, "push": false, "fetch": false, "commit": false, "checkout one": false,
		"-c core.pager=x log": false, "--git-dir=x log": false, "log --ext-diff": false, "log --textconv": false, "grep -Oless x": false,
		"grep --open-files-in-pager=x y": false, "fsck --lost-found": false, "cat-file --filters one:a": false, "tag x": false,
		"notes add": false, "reflog expire": false, "symbolic-ref a b": false, "worktree add x": false, "log --show-signature": false,
		"format-patch one": false, "archive -o x one": false, "bundle create x one": false, "difftool": false, "bisect start": false,
		"": false,
	} {
		args := strings.Split(line, " ")
		if err := onlyReads(args); (err == nil) != reads {
			t.Errorf("git %s: %v, want reading %t", line, err, reads)
		}
	}
}

func TestBareLog(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"log":                  "log REV",
		"log -p -n 3":          "log -p -n 3 REV",
		"log --stat -- a.txt":  "log --stat REV -- a.txt",
		"log one":              "",
		"log --all":            "",
		"log --oneline one -5": "",
		"show":                 "",
		"log -S foo":           "log -S foo REV",
	} {
		args := strings.Fields(line)
		got := ""
		if bareLog(args) {
			got = strings.Join(withRevision(args, "REV"), " ")
		}
		if got != want {
			t.Errorf("git %s: %q, want %q", line, got, want)
		}
	}
}
