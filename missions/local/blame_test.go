package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// blamed is who wrote each line of a file: the turn, or else the kind of author.
func (c *talker) blamed(r missions.BlameRequest) (authors []string) {
	c.Helper()
	r.Caller = c.caller()
	b, err := c.local.Blame(context.Background(), r)
	if err != nil {
		c.Fatal(err)
	}
	for _, l := range b.Lines {
		author := string(l.By)
		if l.By == missions.AuthorMission {
			author = fmt.Sprint(l.Turn)
		}
		authors = append(authors, l.Text+"="+author)
	}
	return authors
}

func (c *talker) wantBlame(what string, r missions.BlameRequest, want ...string) {
	c.Helper()
	if got := c.blamed(r); !slices.Equal(got, want) {
		c.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestBlame: a line's author is the turn that wrote it, whatever was restored, renamed or
// typed by hand since.
func TestBlame(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "zero\n")
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("add one", "a.txt", "zero\none\n")
	c.write("a.txt", "zero\none\nhand\n")
	c.takeTurn("put two first", "a.txt", "two\nzero\none\nhand\n")
	a := missions.BlameRequest{Path: "a.txt"}
	c.wantBlame("after two turns", a, "two=2", "zero=before", "one=1", "hand=between")
	c.wantBlame("some lines", missions.BlameRequest{Path: "a.txt", First: 3, Last: 3}, "one=1")
	c.wantBlame("at a moment", missions.BlameRequest{Path: "a.txt", Moment: "@1"}, "zero=before", "one=1")
	c.takeTurn("drop all", "a.txt", "one\n")
	if _, err := b.local.Restore(context.Background(), missions.RestoreRequest{Caller: b.caller(), Moment: "@2", FilesOnly: true}); err != nil {
		t.Fatal(err)
	}
	c.wantBlame("after a restore", a, "two=2", "zero=before", "one=1", "hand=between")
	c.takeTurn("copy it", "b.txt", "two\nzero\none\nhand\n")
	b.remove("a.txt")
	c.hook("UserPromptSubmit", map[string]any{"prompt": "rename it, and add to it", "prompt_id": "p5"})
	c.calls("t5", "Bash", map[string]any{"command": "mv b.txt c.txt; echo five >>c.txt"}, func() {
		b.remove("b.txt")
		c.write("c.txt", "two\nzero\none\nhand\nfive\n")
	})
	c.hook("Stop", map[string]any{"prompt_id": "p5"})
	c.write("c.txt", "two\nzero\none\nhand\nfive\nnow\n")
	c.wantBlame("a copy", missions.BlameRequest{Path: "b.txt", Moment: "@4"}, "two=2", "zero=before", "one=1", "hand=between")
	c.wantBlame("before the next snapshot", missions.BlameRequest{Path: "c.txt"}, "two=2", "zero=before", "one=1", "hand=between", "five=5", "now=between")
	result, err := b.local.Blame(context.Background(), missions.BlameRequest{Caller: b.caller(), Path: "b.txt", Moment: "@1"})
	c.fails("a file that was not there", err, missions.KindNotFound)
	if len(result.Lines) > 0 {
		t.Errorf("%+v", result)
	}
}

// TestBlameAfterRewrittenHistory: what the user's git does to commits changes no author, and
// what only the user has committed is the commit's.
func TestBlameAfterRewrittenHistory(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.git("init", "-q", "-b", "main")
	b.write("a.txt", "zero\n")
	b.git("add", "-A")
	b.git("commit", "-qm", "the beginning")
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	text, want := "zero\n", []string{"zero=commit"}
	for turn := 1; turn <= 4; turn++ {
		line := fmt.Sprintf("turn %d", turn)
		text, want = text+line+"\n", append(want, fmt.Sprintf("%s=%d", line, turn))
		c.takeTurn("add a line", "a.txt", text)
		b.git("commit", "-qam", line)
	}
	a := missions.BlameRequest{Path: "a.txt"}
	c.wantBlame("committed by turn", a, want...)
	b.git("reset", "-q", "--hard", "HEAD~4")
	b.snapshot("all of it is away")
	b.git("merge", "-q", "--squash", "ORIG_HEAD")
	b.snapshot("and here again")
	b.git("commit", "-qm", "squashed")
	c.wantBlame("squashed", a, want...)
	b.git("commit", "-q", "--amend", "-m", "amended")
	c.hook("SessionEnd", map[string]any{"reason": "exit"})
	other := newTalker(b)
	other.session, other.transcript = strings.Replace(c.session, "1", "9", 1), c.transcript+".other.jsonl"
	other.hook("SessionStart", map[string]any{"source": "startup"})
	other.takeTurn("add another", "b.txt", "other\n")
	other.wantBlame("in another mission", a, want...)
	b.write("a.txt", "yours\n"+text)
	b.git("commit", "-qam", "by hand")
	other.wantBlame("a commit by hand", a, append([]string{"yours=commit"}, want...)...)
}

// TestBlameOfDoubledLines: lines that stand twice, once copied by hand, are both of the turn
// that wrote them.
func TestBlameOfDoubledLines(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	long := "a line with many letters in it\nand another one, as long as that\n"
	c.takeTurn("write it", "a.txt", "head\n"+long)
	c.takeTurn("add to it", "a.txt", "head\n"+long+"more of it\n")
	c.write("a.txt", "HEAD\n"+long+"more of it\n"+long)
	first, second, _ := strings.Cut(strings.TrimSpace(long), "\n")
	c.wantBlame("doubled", missions.BlameRequest{Path: "a.txt"}, "HEAD=between", first+"=1", second+"=1", "more of it=2", first+"=1", second+"=1")
}

// TestBlameOfRenamedWithoutEdit: what a fork wrote is of the fork, also when the file got
// another name meanwhile and nothing else.
func TestBlameOfRenamedWithoutEdit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	old := "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n"
	b.write("a.txt", old)
	b.mission("m")
	made, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: "m", Name: "child"})
	if err != nil {
		t.Fatal(err)
	}
	b.writeIn(made.Missions[0].Workspace, "a.txt", old+"by the child\n")
	b.remove("a.txt")
	b.write("b.txt", old)
	b.snapshot("renamed")
	if _, err := b.local.Promote(context.Background(), missions.PromoteRequest{Caller: b.caller(), Fork: "child"}); err != nil {
		t.Fatal(err)
	}
	r, err := b.local.Blame(context.Background(), missions.BlameRequest{Caller: b.caller(), Path: "b.txt"})
	if err != nil || len(r.Lines) != 9 || r.Lines[8].Mission != "child" || r.Lines[0].By != missions.AuthorUnknown {
		t.Errorf("%+v, %v", r.Lines, err)
	}
}

// TestBlameOfRemovedFork: what a fork wrote that was promoted, and removed since, is still of
// that fork.
func TestBlameOfRemovedFork(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "zero\n")
	b.mission("m")
	made, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: "m", Name: "child"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(made.Missions[0].Workspace, "a.txt"), []byte("zero\nby the child\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := b.local.Promote(context.Background(), missions.PromoteRequest{Caller: b.caller(), Fork: "child"}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.local.Remove(context.Background(), missions.RemoveRequest{Caller: b.caller(), Missions: []string{"child"}, Workspace: true, Force: true}); err != nil {
		t.Fatal(err)
	}
	r, err := b.local.Blame(context.Background(), missions.BlameRequest{Caller: b.caller(), Path: "a.txt"})
	if err != nil || len(r.Lines) != 2 || r.Lines[1].Mission != "child" {
		t.Errorf("%+v, %v", r.Lines, err)
	}
}
