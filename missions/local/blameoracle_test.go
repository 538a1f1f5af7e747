package local

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// yours is who wrote what was typed by hand, in the record of a ledger.
const yours = "you"

// ledger plays agents and their user for many turns, and keeps its own record of who wrote
// each line. A line's text is nowhere twice, but for closing braces and empty lines: for
// those any of their writers is right.
type ledger struct {
	*testBench
	random  *rand.Rand
	writers map[string]map[string]bool // of a line's text: the prompts of the turns, or yours
	lines   int                        // written so far
	turns   int
	talkers []*talker // the mission that all others are forked from is the first
	names   map[*talker]string
	parents map[*talker]*talker // of forks
	moments map[*talker][]ledgerMoment
	checked int // lines
}

// ledgerMoment is the end of a turn.
type ledgerMoment struct{ address, parent string }

func newLedger(t *testing.T, seed uint64) *ledger {
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	l := &ledger{
		testBench: b, random: rand.New(rand.NewPCG(seed, 24)), writers: map[string]map[string]bool{},
		names: map[*talker]string{}, parents: map[*talker]*talker{}, moments: map[*talker][]ledgerMoment{},
	}
	b.git("init", "-q", "-b", "main")
	for i := range 3 {
		b.write(fmt.Sprintf("src/f%d.go", i), strings.Join(l.block(yours, 12), "\n")+"\n")
	}
	b.git("add", "-A")
	b.git("commit", "-qm", "the beginning")
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	m := b.only()
	if _, err := b.local.Rename(context.Background(), missions.RenameRequest{Caller: b.caller(), Mission: m.ID, Name: "root"}); err != nil {
		t.Fatal(err)
	}
	c.mission = m.ID
	l.talkers, l.names[c] = []*talker{c}, "root"
	return l
}

// block is new lines, and notes who has written them.
func (l *ledger) block(writer string, count int) (block []string) {
	for range count {
		text := ""
		switch n := l.random.IntN(8); n {
		case 0:
			text = "}"
		case 1:
		default:
			l.lines++
			text = fmt.Sprintf("%scall%d(\"of number %x\", %q)", strings.Repeat("\t", l.random.IntN(3)), l.lines, l.random.Uint32(), writer)
		}
		block = append(block, text)
		if l.writers[text] == nil {
			l.writers[text] = map[string]bool{}
		}
		l.writers[text][writer] = true
	}
	return block
}

// files are what a workspace has.
func (l *ledger) files(c *talker) (names []string) {
	err := filepath.WalkDir(filepath.Join(c.dir, "src"), func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			name, _ := filepath.Rel(c.dir, path)
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		l.Fatal(err)
	}
	return names
}

// some is one of the files of a workspace.
func (l *ledger) some(c *talker) string {
	names := l.files(c)
	return names[l.random.IntN(len(names))]
}

// edit changes a workspace as its writer: lines are put in, replaced and taken out, files
// are made, renamed, copied and removed.
func (l *ledger) edit(c *talker, writer string) {
	name := l.some(c)
	lines := strings.Split(strings.TrimSuffix(c.read(name), "\n"), "\n")
	at := l.random.IntN(len(lines) + 1)
	switch kind := l.random.IntN(20); {
	case kind < 9:
		lines = slices.Insert(lines, at, l.block(writer, 1+l.random.IntN(4))...)
	case kind < 13 && at < len(lines):
		lines = slices.Replace(lines, at, min(len(lines), at+1+l.random.IntN(2)), l.block(writer, 1+l.random.IntN(3))...)
	case kind < 15 && len(lines) > 8:
		lines = slices.Delete(lines, min(at, len(lines)-2), min(at+2, len(lines)))
	case kind < 17: // every other time without an edit
		l.lines++
		to := fmt.Sprintf("src/renamed%d.go", l.lines)
		c.remove(name)
		if name = to; l.lines%2 == 0 {
			lines = slices.Insert(lines, at, l.block(writer, 1)...)
		}
	case kind == 17 && len(l.files(c)) < 8 && writer != yours: // and there is a snapshot before the next edit
		l.lines++
		name = fmt.Sprintf("src/copy%d.go", l.lines)
	case kind == 18 && len(l.files(c)) > 2:
		c.remove(name)
		return
	default:
		l.lines++
		name, lines = fmt.Sprintf("src/dir%d/new%d.go", l.lines%3, l.lines), l.block(writer, 5+l.random.IntN(10))
	}
	c.write(name, strings.Join(lines, "\n")+"\n")
}

// turn is one of an agent, in several steps.
func (l *ledger) turn(c *talker) {
	c.Helper()
	l.turns++
	prompt := fmt.Sprintf("task %d for %s", l.turns, l.names[c])
	c.turn = l.turns
	id := fmt.Sprintf("%08d-0000-4000-8000-0000000000", l.turns)
	c.hook("UserPromptSubmit", map[string]any{"prompt": prompt, "prompt_id": id + "99"})
	c.say(c.line("user", id+"00", c.parent, fmt.Sprintf("%q", prompt)))
	c.parent = id + "00"
	for step := range 1 + l.random.IntN(3) {
		tool, ask, answer := fmt.Sprintf("toolu_%d_%d", l.turns, step), fmt.Sprintf("%s%d1", id, step+1), fmt.Sprintf("%s%d2", id, step+1)
		c.say(c.line("assistant", ask, c.parent, fmt.Sprintf(`[{"type":"tool_use","id":%q,"name":"Bash","input":{"command":"work"}}]`, tool)))
		c.calls(tool, "Bash", map[string]any{"command": "work"}, func() { l.edit(c, prompt) })
		c.say(c.line("user", answer, ask, fmt.Sprintf(`[{"type":"tool_result","tool_use_id":%q,"content":"ok"}]`, tool)))
		c.parent = answer
	}
	c.say(c.line("assistant", id+"98", c.parent, `[{"type":"text","text":"done"}]`))
	c.parent = id + "98"
	c.hook("Stop", map[string]any{"prompt_id": id + "99", "last_assistant_message": "done"})
	log, err := c.local.Log(context.Background(), missions.LogRequest{Caller: c.caller(), Mission: c.mission, Limit: 1})
	if err != nil {
		l.Fatal(err)
	}
	l.moments[c] = append(l.moments[c], ledgerMoment{log[0].ID, c.parent})
}

// fork makes a fork of a mission as it is, or as it was.
func (l *ledger) fork(c *talker) {
	at := ledgerMoment{c.mission, c.parent}
	if past := l.moments[c]; len(past) > 0 && l.random.IntN(2) == 0 {
		at = past[l.random.IntN(len(past))]
	}
	name := fmt.Sprintf("kid%d", len(l.talkers))
	made, err := c.local.Fork(context.Background(), missions.ForkRequest{Caller: c.caller(), From: at.address, Name: name})
	if err != nil {
		l.Fatal(err)
	}
	m, there := made.Missions[0], *c.testBench
	there.dir = m.Workspace
	f := &talker{testBench: &there, session: m.SessionID, transcript: m.SessionPath, parent: at.parent, mission: m.ID}
	f.hook("SessionStart", map[string]any{"source": "resume"})
	l.talkers, l.names[f], l.parents[f] = append(l.talkers, f), name, c
}

// goOn has an agent take up the session that its mission has now.
func (l *ledger) goOn(c *talker, parent string) {
	c.Helper()
	m, err := c.local.Mission(context.Background(), missions.MissionRequest{Caller: c.caller(), Name: c.mission})
	if err != nil {
		l.Fatal(err)
	}
	if m.SessionID != c.session {
		c.hook("SessionEnd", map[string]any{"reason": "resume"})
		c.session, c.transcript, c.parent = m.SessionID, m.SessionPath, parent
		c.hook("SessionStart", map[string]any{"source": "resume"})
	}
}

// restore takes a mission back to the end of one of its turns, or undoes that again.
func (l *ledger) restore(c *talker) {
	past := l.moments[c]
	if len(past) == 0 {
		return
	}
	at, was := past[l.random.IntN(len(past))], c.parent
	r := missions.RestoreRequest{Caller: c.caller(), Mission: c.mission, Moment: at.address, FilesOnly: l.random.IntN(2) == 0, All: true}
	done, err := l.local.Restore(context.Background(), r)
	if err != nil {
		l.Fatalf("restore %s: %v (%s)", at.address, err, missions.AsError(err).Hint)
	}
	l.goOn(c, at.parent)
	if done.Snapshot == "" || l.random.IntN(3) > 0 {
		return
	}
	if _, err := l.local.Undo(context.Background(), missions.UndoRequest{Caller: c.caller(), Mission: c.mission}); err != nil {
		l.Fatal(err)
	}
	l.goOn(c, was)
}

// promote brings a fork home. Where both changed the same lines its own count.
func (l *ledger) promote(f *talker) {
	c := l.parents[f]
	c.promoted(f.mission, func(r *missions.PromoteRequest) { r.FilesOnly, r.All, r.Keep = l.random.IntN(2) == 0, true, true })
	l.goOn(c, f.parent)
}

// check holds blame of each line of each file against the record.
func (l *ledger) check(when string, talkers ...*talker) {
	l.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience.Of(time.Minute))
	defer cancel()
	for _, c := range talkers {
		for _, name := range l.files(c) {
			result, err := l.local.Blame(ctx, missions.BlameRequest{Caller: c.caller(), Path: name})
			if err != nil {
				l.Errorf("%s: %s: %v", when, name, err)
				continue
			}
			lines := strings.Split(strings.TrimSuffix(c.read(name), "\n"), "\n")
			if len(result.Lines) != len(lines) {
				l.Errorf("%s: %s has %d lines, blame has %d", when, name, len(lines), len(result.Lines))
				continue
			}
			for i, line := range result.Lines {
				l.checked++
				is, want := line.Prompt, l.writers[lines[i]]
				if line.By != missions.AuthorMission {
					is = yours
				}
				if !want[is] || line.Text != lines[i] {
					l.Errorf("%s: %s:%d of %s: %s names %q (%s, %s), want one of %q", when, name, i+1, l.names[c], line.Text, is, line.By, line.Address, slices.Sorted(maps.Keys(want)))
				}
			}
		}
	}
}

// rebase runs git rebase -i with what is to be done. Commits that become empty stay.
func (l *ledger) rebase(onto, script string) {
	l.Helper()
	git := func(args ...string) ([]byte, error) {
		cmd := exec.Command("git", append([]string{"-c", "user.name=T", "-c", "user.email=t@t"}, args...)...)
		cmd.Dir = l.dir
		cmd.Env = append(os.Environ(), "HOME="+l.user, "GIT_EDITOR=true", "GIT_SEQUENCE_EDITOR=sed -i "+script)
		return cmd.CombinedOutput()
	}
	out, err := git("rebase", "-q", "-i", onto)
	for tries := 0; err != nil && tries < 10; tries++ {
		l.git("commit", "-q", "--amend", "--allow-empty", "--no-edit")
		out, err = git("rebase", "--continue")
	}
	if err != nil {
		l.Fatalf("git rebase: %v\n%s", err, out)
	}
}

// TestBlameAgainstRecord holds blame against a record of who wrote what, over forty turns with
// forks, promotions, restores, renames and edits by hand, and then over what the user's git
// does to the commits.
func TestBlameAgainstRecord(t *testing.T) {
	t.Parallel()
	for _, seed := range []uint64{6, 8, 21, 26} {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			l := newLedger(t, seed)
			root, base := l.talkers[0], strings.TrimSpace(l.git("rev-parse", "HEAD"))
			for l.turns < 40 {
				c := l.talkers[l.random.IntN(len(l.talkers))]
				switch l.random.IntN(12) {
				case 0:
					if len(l.talkers) < 5 && c.parent != "" { // there is a conversation
						l.fork(c)
					}
				case 1:
					if l.parents[c] != nil {
						l.promote(c)
					}
				case 2:
					l.restore(c)
				case 3, 4:
					l.edit(c, yours)
				default:
					l.turn(c)
				}
				l.git("add", "-A")
				l.git("commit", "-q", "--allow-empty", "-m", fmt.Sprintf("until turn %d", l.turns))
			}
			l.check("after forty turns", l.talkers...)
			l.rewrite(root, base)
			if l.checked < 500 {
				t.Errorf("only %d lines were looked at", l.checked)
			}
		})
	}
}

// rewrite rewrites the commits of the user's branch, and looks at each result.
func (l *ledger) rewrite(root *talker, base string) {
	tip := strings.TrimSpace(l.git("rev-parse", "HEAD"))
	l.git("switch", "-q", "-c", "squashed", base)
	l.snapshot("as it began")
	l.git("merge", "-q", "--squash", tip)
	l.git("commit", "-qm", "all in one")
	l.check("squashed", root)

	l.git("switch", "-q", "-c", "rebased", tip)
	l.edit(root, yours)
	l.git("add", "-A")
	l.git("commit", "-q", "--amend", "-m", "with something by hand")
	l.check("amended", root)
	l.rebase(base, "-e 3~3s/pick/fixup/ -e 4~5s/pick/reword/")
	l.check("rebased", root)
	l.turn(root)
	l.check("a turn later", root)

	l.git("add", "-A")
	l.git("commit", "-qm", "the last turn")
	last := strings.TrimSpace(l.git("rev-parse", "HEAD"))
	l.git("switch", "-q", "-c", "picked", base)
	for _, commit := range strings.Fields(l.git("rev-list", "--reverse", base+".."+last)) {
		l.git("cherry-pick", "--allow-empty", "--keep-redundant-commits", commit)
		if l.random.IntN(8) == 0 {
			l.snapshot("on the way")
		}
	}
	l.check("picked", root)
	l.healthy()
}
