package local

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/conversations"
)

// chatter is a talker that says anything.
type chatter struct {
	*talker
	dice  *rand.Rand
	lines int
}

var chatterWords = strings.Fields(`a go audit Audit database DATABASE log login Größe GRÖSSE 日本語 日本 naïve Kelvin İstanbul
	ſharp x1 x2 x3 foo.bar foo/bar --flag "quoted" back\slash tab	é É ß 42 4242 needle Needles pin`)

func (c *chatter) text(words int) string {
	var said []string
	for range 1 + c.dice.IntN(words) {
		word := chatterWords[c.dice.IntN(len(chatterWords))]
		if c.dice.IntN(40) == 0 {
			word = fmt.Sprintf("rare%d", c.dice.IntN(60))
		}
		said = append(said, word)
	}
	return strings.Join(said, []string{" ", " ", "\n", "-"}[c.dice.IntN(4)])
}

// event is a line of the session, a while after the one before; a few have no time.
func (c *chatter) event(kind string, content any) string {
	c.lines++
	id := fmt.Sprintf("%s-%d", c.session[:8], c.lines)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(c.lines) * 7 * time.Second).Format(time.RFC3339)
	if c.dice.IntN(30) == 0 {
		at = ""
	}
	line, err := json.Marshal(map[string]any{
		"parentUuid": c.parent, "isSidechain": false, "type": kind, "uuid": id, "timestamp": at, "cwd": c.dir, "sessionId": c.session,
		"version": "2.1.329", "message": map[string]any{"role": kind, "content": content},
	})
	if err != nil {
		c.Fatal(err)
	}
	c.parent = id
	return string(line)
}

// chat is a turn, of which the hooks tell or not.
func (c *chatter) chat(hooked bool) {
	prompt := c.text(10)
	if hooked {
		c.hook("UserPromptSubmit", map[string]any{"prompt": prompt})
	}
	c.say(c.event("user", prompt))
	for range c.dice.IntN(4) {
		c.say(c.event("assistant", []any{map[string]any{"type": "text", "text": c.text(30)}}))
		id := fmt.Sprintf("toolu_%d", c.lines)
		name := []string{"Bash", "Read", "Grep"}[c.dice.IntN(3)]
		c.say(c.event("assistant", []any{map[string]any{"type": "tool_use", "id": id, "name": name, "input": map[string]any{"command": c.text(8)}}}))
		failed := c.dice.IntN(3) == 0
		result := map[string]any{"type": "tool_result", "tool_use_id": id, "content": c.text(40)}
		if failed {
			result["is_error"], result["content"] = true, fmt.Sprintf("Exit code %d\n%s", c.dice.IntN(5), c.text(5))
		}
		c.say(c.event("user", []any{result}))
	}
	c.say(c.event("assistant", []any{map[string]any{"type": "text", "text": c.text(20)}}))
	if hooked {
		c.write(fmt.Sprintf("f%d.txt", c.dice.IntN(3)), c.text(5))
		c.hook("Stop", map[string]any{"last_assistant_message": "done"})
	}
}

// rewriteTalk has the agent write its file anew, with one line less.
func (c *chatter) rewriteTalk() {
	text, err := os.ReadFile(c.transcript)
	if err != nil {
		c.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	if len(lines) < 4 {
		return
	}
	at := c.dice.IntN(len(lines) - 2)
	if err := os.WriteFile(c.transcript, []byte(strings.Join(slices.Delete(lines, at, at+1), "")), 0o600); err != nil {
		c.Fatal(err)
	}
}

// ask makes up a search.
func (c *chatter) ask() missions.SearchRequest {
	var parts []string
	for range 1 + c.dice.IntN(2) {
		word := c.text(2)
		if c.dice.IntN(3) == 0 {
			word = fmt.Sprintf("rare%d", c.dice.IntN(60))
		}
		if runes := []rune(word); c.dice.IntN(2) == 0 && len(runes) > 3 {
			from := c.dice.IntN(len(runes) - 2)
			word = string(runes[from : from+2+c.dice.IntN(len(runes)-from-1)])
		}
		if word = strings.ReplaceAll(word, `"`, ""); c.dice.IntN(3) == 0 {
			word = `"` + word + `"`
		} else if c.dice.IntN(3) == 0 {
			word = strings.ToUpper(word)
		}
		parts = append(parts, word)
	}
	r := missions.SearchRequest{Caller: c.caller(), Query: strings.Join(parts, " "), Limit: 1 + c.dice.IntN(20)}
	if c.dice.IntN(3) == 0 {
		r.In = []missions.SearchPlace{missions.SearchPlaces[c.dice.IntN(5)]}
	}
	if c.dice.IntN(4) == 0 {
		r.Since = time.Date(2026, 1, 1, 0, 0, c.dice.IntN(7*max(1, c.lines)), 0, time.UTC).Format(time.RFC3339)
	}
	return r
}

// answers is what is found, all pages.
func (c *chatter) answersTo(r missions.SearchRequest) (all []missions.SearchHit) {
	for {
		result, err := c.local.Search(context.Background(), r)
		if err != nil && missions.AsError(err).Kind == missions.KindUsage {
			return nil
		}
		if err != nil {
			c.Fatal(err)
		}
		all = append(all, result.Hits...)
		if !result.More || len(result.Hits) == 0 {
			return all
		}
		r.After = &all[len(all)-1]
	}
}

// damage does something to the index that may happen to files.
func (c *chatter) damage(dir string) {
	parts, err := filepath.Glob(filepath.Join(dir, "*.part"))
	if err != nil {
		c.Fatal(err)
	}
	if len(parts) == 0 || c.dice.IntN(3) == 0 {
		return
	}
	part := parts[c.dice.IntN(len(parts))]
	content, err := os.ReadFile(part)
	if err != nil {
		c.Fatal(err)
	}
	switch c.dice.IntN(4) {
	case 0:
		err = os.Remove(part)
	case 1:
		err = os.WriteFile(part, content[:c.dice.IntN(len(content))], 0o600)
	default:
		for range 1 + c.dice.IntN(3) {
			content[c.dice.IntN(len(content))] ^= byte(1 + c.dice.IntN(255))
		}
		err = os.WriteFile(part, content, 0o600)
	}
	if err != nil {
		c.Fatal(err)
	}
}

// TestSearchIndex: with an index, whole or in part, old, damaged or gone, a search finds
// just what it finds where whole conversations are read.
func TestSearchIndex(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			c := &chatter{talker: startTalker(t), dice: rand.New(rand.NewPCG(seed, 24))}
			now := time.Now()
			c.local.Clock = func() time.Time { return now }
			c.hook("SessionStart", map[string]any{"source": "startup"})
			c.chat(true)
			all := []*chatter{c}
			dir := filepath.Join(c.project().Dir, "search")
			asked, found := 0, 0
			const pieces = 4 << 10
			for range 12 {
				now = now.Add(time.Minute)
				one := all[c.dice.IntN(len(all))]
				switch c.dice.IntN(10) {
				case 0:
					if len(all) < 3 {
						all = append(all, &chatter{talker: one.forkTalker(fmt.Sprintf("fork%d", len(all))), dice: c.dice, lines: one.lines})
					}
				case 1:
					one.rewriteTalk()
				}
				one.chat(true)
				c.local.Library.PieceBytes = pieces
				if c.dice.IntN(2) == 0 {
					if err := c.local.IndexWhenChanged(t.Context(), c.project()); err != nil {
						t.Fatal(err)
					}
				}
				if c.dice.IntN(3) == 0 {
					one.chat(false) // no snapshot has it
				}
				c.damage(dir)
				for range 12 {
					r := c.ask()
					c.local.Library.PieceBytes = pieces
					got := c.answersTo(r)
					c.local.Library.PieceBytes = 1 << 30
					if err := os.Rename(dir, dir+".off"); err != nil && !os.IsNotExist(err) {
						t.Fatal(err)
					}
					want := c.answersTo(r)
					if err := os.Rename(dir+".off", dir); err != nil && !os.IsNotExist(err) {
						t.Fatal(err)
					}
					asked, found = asked+1, found+len(want)
					if !slices.EqualFunc(got, want, func(a, b missions.SearchHit) bool { return a == b }) {
						t.Fatalf("%+v finds\n%+v\nwithout an index\n%+v", r, got, want)
					}
				}
			}
			t.Log(asked, "searches,", found, "hits")
		})
	}
}

// TestSearchFindsUnrecordedTail: what the agent has said since the newest snapshot is found,
// though the index knows the whole of that snapshot's conversation and has nothing like it.
func TestSearchFindsUnrecordedTail(t *testing.T) {
	t.Parallel()
	c := &chatter{talker: startTalker(t), dice: rand.New(rand.NewPCG(5, 6))}
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.chat(true)
	if err := c.local.IndexWhenChanged(t.Context(), c.project()); err != nil {
		t.Fatal(err)
	}
	find := func(query string) int {
		return len(c.answersTo(missions.SearchRequest{Caller: c.caller(), Query: query}))
	}
	if n := find("zyzzyva"); n != 0 {
		t.Fatalf("%d hits for what nobody has said", n)
	}
	c.say(c.event("user", "zyzzyva"))
	c.say(c.event("assistant", []any{map[string]any{"type": "text", "text": "quokka"}}))
	for _, word := range []string{"zyzzyva", "quokka"} {
		if n := find(word); n != 1 {
			t.Errorf("%d hits for %s, which no snapshot has; want 1", n, word)
		}
	}
}

// TestSearchReadsWhatMayMatch: what the housekeeping has indexed is read by no search that
// can find nothing in it, until the index is gone.
func TestSearchReadsWhatMayMatch(t *testing.T) {
	t.Parallel()
	c := &chatter{talker: startTalker(t), dice: rand.New(rand.NewPCG(1, 2))}
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.chat(true)
	m := c.named("login")
	if c.local.IsIndexDue(c.project()) {
		t.Error("a new project is to be indexed at once")
	}
	now := time.Now().Add(2 * time.Hour)
	c.local.Clock = func() time.Time { return now }
	if !c.local.IsIndexDue(c.project()) {
		t.Error("an old project is not to be indexed")
	}
	if err := c.local.IndexWhenChanged(t.Context(), c.project()); err != nil {
		t.Fatal(err)
	}
	if c.local.IsIndexDue(c.project()) {
		t.Error("the project is to be indexed again")
	}
	text, err := os.ReadFile(c.transcript)
	if err != nil {
		t.Fatal(err)
	}
	id, err := gitstore.HashBlob(strings.NewReader(string(text)), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(c.transcript); err != nil {
		t.Fatal(err)
	}
	c.loseObject(m, id.String())
	reads := func(query string) bool {
		told := false
		ctx := missions.WithNotify(context.Background(), func(n missions.Notice) {
			told = told || strings.Contains(n.Text, "can't be searched whole")
		})
		if _, err := c.local.Search(ctx, missions.SearchRequest{Caller: c.caller(), Query: query}); err != nil {
			t.Fatal(err)
		}
		return told
	}
	if reads("nothing like this") {
		t.Error("a search for what is nowhere reads the conversation")
	}
	if !reads("Bash") && !reads("go") {
		t.Error("a search for what may be there does not read it")
	}
	if err := os.RemoveAll(filepath.Join(c.project().Dir, "search")); err != nil {
		t.Fatal(err)
	}
	if !reads("nothing like this") {
		t.Error("without an index the conversation is not read")
	}
	if _, err := c.local.HousekeepWhenQuiet(t.Context(), c.project().Dir, time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if c.local.IsIndexDue(c.project()) {
		t.Error("the housekeeping does not index")
	}
}

// TestBordersMeet: who reads a conversation from a border on finds the same turns and the same
// further borders as who reads all of it. Otherwise what is indexed at different times would
// not fit together, and what lies between would be read by each search.
func TestBordersMeet(t *testing.T) {
	t.Parallel()
	c := &chatter{talker: startTalker(t), dice: rand.New(rand.NewPCG(7, 8))}
	c.hook("SessionStart", map[string]any{"source": "startup"})
	for range 40 {
		c.chat(false)
	}
	c.chat(true)
	m, err := c.local.MissionByID(c.only().ID)
	if err != nil {
		t.Fatal(err)
	}
	c.local.Library.PieceBytes = 256 // a part of a turn: in a long one it is looked seldom
	read := func(from *conversations.Border) (borders []conversations.Border, turns []int64) {
		err := c.local.ReadRecordedTurns(t.Context(), m.Project, conversations.TurnRange{
			Record: m.Tip.Record, From: from, Border: func(b conversations.Border) { borders = append(borders, b) },
		}, func(turn conversations.PlacedTurn) error {
			turns = append(turns, turn.Place)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return borders, turns
	}
	borders, turns := read(nil)
	if len(borders) < 5 {
		t.Fatalf("%d borders of %d turns", len(borders), len(turns))
	}
	for i, b := range borders {
		later, rest := read(&b)
		if !slices.Equal(later, borders[i+1:]) {
			t.Errorf("from %+v on the borders are %v, want %v", b, later, borders[i+1:])
		}
		if at := slices.Index(turns, b.Turn); at < 0 || !slices.Equal(rest, turns[at:]) {
			t.Errorf("from %+v on the turns are at %v, of %v", b, rest, turns)
		}
	}
}
