package commits

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFilterThatIsOff: a filter that the repository switches off, by an empty value over the
// user's own, does not run.
func TestFilterThatIsOff(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put(".gitattributes", "*.up filter=up\n")
	b.begin()
	b.git("config", "--global", "filter.up.clean", "tr a-z A-Z")
	b.git("config", "filter.up.clean", "")
	b.put("quiet.up", "quiet\n")
	b.step("1", "add it")
	b.land()
	if got := b.git("show", "HEAD:quiet.up"); got != "quiet" {
		t.Errorf("it landed as %q", got)
	}
}

// TestIntentToAdd: a file that git add -N has noted lands, and is no reason to refuse.
func TestIntentToAdd(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.begin()
	b.put("new.txt", "new\n")
	b.put("sub/other.txt", "other\n")
	b.step("1", "add them")
	b.git("add", "-N", "new.txt", "sub/other.txt")
	b.land()
	if got := b.git("status", "--porcelain") + b.git("show", "HEAD:new.txt"); got != "new" {
		t.Errorf("after it: %q", got)
	}
}

// TestRebasedElsewhere refuses a branch that is rebased in another worktree: git would move
// it at the end of that, and lose what had landed.
func TestRebasedElsewhere(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.begin()
	other := filepath.Join(b.home, "other")
	b.git("worktree", "add", "-q", "-b", "topic", other)
	b.in(other, "commit", "-q", "--allow-empty", "-m", "theirs")
	b.in(other, "-c", "sequence.editor=echo break >", "rebase", "-q", "-i", "--force-rebase", "HEAD~1")
	b.put("a.txt", "a\n")
	b.step("1", "add a")
	e := b.refused("topic is checked out in "+other, func(o *Options) { o.Branch = "topic" })
	if e == nil || !strings.Contains(e.Hint, "branch of its own") {
		t.Errorf("hint: %v", e)
	}
	b.git("worktree", "remove", "--force", other)
}

// TestBisecting says how a bisection is ended.
func TestBisecting(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.begin()
	b.put("a.txt", "a\n")
	b.step("1", "add a")
	b.git("bisect", "start")
	if e := b.refused("a bisect is in progress"); !strings.Contains(e.Hint, "git bisect reset") {
		t.Errorf("hint: %s", e.Hint)
	}
}

// TestManyDirectories: attributes are asked for in as many calls as it takes.
func TestManyDirectories(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("keep/.gitattributes", "*.txt text eol=lf\n")
	b.begin()
	for i := range mostArguments + 10 {
		b.put(filepath.Join("keep", strings.Repeat("d", i%50+1), string(rune('a'+i/50)), "f"), "f\n")
	}
	b.put("keep/dos.txt", "one\r\n")
	b.step("1", "add many")
	b.land()
	if got := b.git("cat-file", "-s", "HEAD:keep/dos.txt"); got != "4" {
		t.Errorf("it landed with %s bytes", got)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "keep")); err != nil {
		t.Error(err)
	}
}

// TestMessageWithDivider: a message with a line of dashes keeps its end, and its trailers are
// there.
func TestMessageWithDivider(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.begin()
	b.put("a.txt", "a\n")
	b.step("1", "add a")
	b.land(func(o *Options) {
		o.NoTrailers = false
		o.Groups[0].Message = "add a\n\nfirst\n---\nlast\n"
	})
	if got := b.git("log", "-1", "--format=%B"); !strings.Contains(got, "last\n\nUmbra-Mission:") {
		t.Errorf("the message is %q", got)
	}
}
