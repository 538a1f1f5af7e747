package local

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
)

// subagentFile is where Claude Code has what a subagent of the session said.
func (c *talker) subagentFile(id string) string {
	return filepath.Join(strings.TrimSuffix(c.transcript, ".jsonl"), "subagents", "agent-"+id+".jsonl")
}

// delegate adds to what a subagent said.
func (c *talker) delegate(id string, lines ...string) {
	c.Helper()
	path := c.subagentFile(id)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		c.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		c.Fatal(err)
	}
	defer f.Close()
	for _, line := range lines {
		fmt.Fprintln(f, strings.Replace(line, `{`, fmt.Sprintf(`{"agentId":%q,`, id), 1))
	}
}

// subagents are those that a search's hits are of.
func (c *talker) subagents(r missions.SearchRequest) (list []string) {
	c.Helper()
	r.Caller = c.caller()
	result, err := c.local.Search(context.Background(), r)
	if err != nil {
		c.Fatal(err)
	}
	for _, hit := range result.Hits {
		list = append(list, hit.Subagent)
	}
	return list
}

// TestSearchSubagents: what subagents said is found at the first moment that has it, with the
// index and without; what a fork has copied of it is not found there again.
func TestSearchSubagents(t *testing.T) {
	t.Parallel()
	for _, indexed := range []bool{false, true} {
		t.Run(fmt.Sprint(indexed), func(t *testing.T) {
			t.Parallel()
			c := startTalker(t)
			index := func() {
				if indexed {
					if err := c.local.IndexWhenChanged(t.Context(), c.project()); err != nil {
						t.Fatal(err)
					}
				}
			}
			c.hook("SessionStart", map[string]any{"source": "startup"})
			c.takeTurn("begin", "a.txt", "one\n")
			c.named("login")
			c.hook("UserPromptSubmit", map[string]any{"prompt": "have somebody look"})
			c.say(c.line("user", "u1", c.parent, `"have somebody look"`),
				c.line("assistant", "u2", "u1", `[{"type":"tool_use","id":"t9","name":"Task","input":{"description":"look","prompt":"look for quokkas"}}]`))
			c.delegate("a1f", c.line("user", "s1", "", `"look for quokkas"`),
				c.line("assistant", "s2", "s1", `[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"grep -r Quokka ."}}]`))
			c.write("b.txt", "two\n")
			if _, err := c.local.Snapshot(context.Background(), missions.SnapshotRequest{Caller: c.caller(), Message: "it works"}); err != nil {
				t.Fatal(err)
			}
			index()
			c.delegate("a1f", c.line("user", "s3", "s2", `[{"type":"tool_result","tool_use_id":"t1","content":"a.txt: quokka of output"}]`),
				c.line("assistant", "s4", "s3", `[{"type":"text","text":"No quokka but a wombat."}]`))
			c.delegate("b2e", c.line("user", "s5", "", `"count numbats"`), c.line("assistant", "s6", "s5", `[{"type":"text","text":"Seven."}]`))
			c.say(c.line("user", "u3", "u2", `[{"type":"tool_result","tool_use_id":"t9","content":"None."}]`), c.line("assistant", "u4", "u3", `[{"type":"text","text":"None."}]`))
			c.parent = "u4"
			c.hook("Stop", map[string]any{"last_assistant_message": "None."})
			index()

			c.wantFound("quokka", "login@2 answers: No quokka but a wombat.", "login@2.1 commands: Bash: grep -r Quokka .", "login@2.1 prompts: look for quokkas")
			c.wantFound("wombat", "login@2 answers: No quokka but a wombat.")
			c.wantFound("numbats", "login@2 prompts: count numbats")
			c.wantFoundBy(missions.SearchRequest{Query: "quokka", In: []missions.SearchPlace{missions.SearchOutput}}, "login@2 output: Bash: a.txt: quokka of output")
			c.wantFoundBy(missions.SearchRequest{Query: "quokka", In: []missions.SearchPlace{missions.SearchAnswers}}, "login@2 answers: No quokka but a wombat.")
			c.wantFoundBy(missions.SearchRequest{Query: "quokka", Agent: "codex"})
			if got := c.subagents(missions.SearchRequest{Query: "wombat"}); !slices.Equal(got, []string{"a1f"}) {
				t.Errorf("it was said in %q", got)
			}
			if got := c.subagents(missions.SearchRequest{Query: "somebody"}); !slices.Equal(got, []string{""}) {
				t.Errorf("a prompt was said in %q", got)
			}

			// What the subagent has said since the newest snapshot.
			c.delegate("b2e", c.line("assistant", "s7", "s6", `[{"type":"text","text":"And a bilby."}]`))
			c.delegate("c3d", c.line("user", "s8", "", `"find the bilby"`))
			c.wantFound("bilby", "login@2 answers: And a bilby.", "login@2 prompts: find the bilby")

			f := c.forkTalker("other")
			index()
			c.wantFound("wombat", "login@2 answers: No quokka but a wombat.")
			f.takeTurn("look once more", "c.txt", "c\n")
			f.delegate("a1f", f.line("user", "s9", "s4", `"look again"`), f.line("assistant", "s10", "s9", `[{"type":"text","text":"Still that wombat."}]`))
			f.takeTurn("go on", "c.txt", "cc\n")
			index()
			c.wantFound("wombat", "other@4.0 answers: Still that wombat.", "login@2 answers: No quokka but a wombat.")
			c.wantFoundBy(missions.SearchRequest{Query: "wombat", Mission: "other"}, "other@4.0 answers: Still that wombat.")

			// A fork whose first snapshot comes late: what is dated after the copy is the fork's.
			late := f.forkTalker("late")
			dated := regexp.MustCompile(`"timestamp":"[^"]*"`)
			now := func(line string) string {
				return dated.ReplaceAllString(line, fmt.Sprintf(`"timestamp":%q`, time.Now().Add(time.Minute).UTC().Format(time.RFC3339)))
			}
			late.say(now(late.line("user", "u7", late.parent, `"look in the dark"`)), now(late.line("assistant", "u8", "u7", `[{"type":"text","text":"I looked."}]`)))
			late.delegate("a1f", now(late.line("assistant", "s11", "s10", `[{"type":"text","text":"A wombat in the dark."}]`)))
			late.hook("Stop", map[string]any{"last_assistant_message": "I looked."})
			index()
			c.wantFoundBy(missions.SearchRequest{Query: "wombat", Mission: "late"}, "late@4.2 answers: A wombat in the dark.")

			// A file that is gone in the end, and that the session's first snapshot has.
			if err := os.Remove(f.subagentFile("a1f")); err != nil {
				t.Fatal(err)
			}
			f.takeTurn("go on again", "c.txt", "d\n")
			index()
			c.wantFound("wombat", "late@4.2 answers: A wombat in the dark.", "other@4.0 answers: Still that wombat.", "login@2 answers: No quokka but a wombat.")
		})
	}
}

// delegated has one of a few subagents say something.
func (c *chatter) delegated() {
	id := fmt.Sprintf("a%d", c.dice.IntN(3))
	parent := c.parent
	defer func() { c.parent = parent }() // the main conversation goes on from its own
	if c.dice.IntN(3) == 0 {
		c.delegate(id, c.event("user", c.text(10)))
	}
	c.delegate(id, c.event("assistant", []any{map[string]any{"type": "text", "text": c.text(30)}}))
	if c.dice.IntN(12) == 0 {
		if err := os.Remove(c.subagentFile(id)); err != nil {
			c.Fatal(err)
		}
	}
}

// TestSearchSubagentsIndex: of what subagents said, too, an index finds just what is found
// without one.
func TestSearchSubagentsIndex(t *testing.T) {
	t.Parallel()
	c := &chatter{talker: startTalker(t), dice: rand.New(rand.NewPCG(11, 12))}
	now := time.Now()
	c.local.Clock = func() time.Time { return now }
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.chat(true)
	all := []*chatter{c}
	dir := filepath.Join(c.project().Dir, "search")
	inSubagents := 0
	for range 12 {
		now = now.Add(time.Minute)
		one := all[c.dice.IntN(len(all))]
		if len(all) < 3 && c.dice.IntN(4) == 0 {
			all = append(all, &chatter{talker: one.forkTalker(fmt.Sprintf("fork%d", len(all))), dice: c.dice, lines: one.lines})
		}
		for range c.dice.IntN(4) {
			one.delegated()
		}
		one.chat(true)
		if c.dice.IntN(2) == 0 {
			if err := c.local.IndexWhenChanged(t.Context(), c.project()); err != nil {
				t.Fatal(err)
			}
		}
		if c.dice.IntN(3) == 0 {
			one.delegated() // no snapshot has it
		}
		c.damage(dir)
		for range 12 {
			r := c.ask()
			got := c.answersTo(r)
			if err := os.Rename(dir, dir+".off"); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			want := c.answersTo(r)
			if err := os.Rename(dir+".off", dir); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				said, _ := json.Marshal(got)
				wanted, _ := json.Marshal(want)
				t.Fatalf("%+v finds\n%s\nwithout an index\n%s", r, said, wanted)
			}
			for _, hit := range want {
				if hit.Subagent != "" {
					inSubagents++
				}
			}
		}
	}
	if inSubagents < 20 {
		t.Errorf("%d hits in subagents", inSubagents)
	}
}
