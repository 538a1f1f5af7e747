package missions

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/sessions"
)

// Tally is what a conversation says of itself, counted as the agent's file is
// recorded: each snapshot has it, so it comes with the refs. A fork's begins with
// what it inherited, and a restore takes back what it cuts off.
type Tally struct {
	Prompts     int     `json:"prompts"`
	Tools       int     `json:"tools"`
	Input       int64   `json:"input_tokens"` // with those that were cached
	Output      int64   `json:"output_tokens"`
	Compactions int     `json:"compactions"`
	Resets      int     `json:"resets"`             // how often its user began anew, as by /clear
	Cost        float64 `json:"cost_usd,omitempty"` // as far as the agent says it
}

// tallied is a Tally and where to go on counting.
type tallied struct {
	Session    string `json:"session,omitempty"`
	Generation int    `json:"generation,omitempty"` // of the file, as the record counts it
	Length     int64  `json:"length"`               // how much of the file is counted, up to a line's end
	From       int64  `json:"from"`                 // where the last turn begins
	Before     Tally  `json:"before"`               // what is before From
	Tally      Tally  `json:"tally"`
}

// mostCounted is how many bytes a snapshot counts while an agent waits for it: an
// eighth of a second's work at worst, and usually some kilobytes. More is counted
// beside it, and is in the next one.
const mostCounted = 4 << 20

// counter goes on counting one conversation.
type counter struct {
	at       tallied
	follower sessions.Follower // fed with [at.From, at.Length)
	mine     []string          // the sessions whose turns count; nil: all
}

// counters are those of the missions that this process has counted, so that what
// was appended is all that is read. It is safe for concurrent use; one counter is
// used by whoever has its mission's workspace.
type counters struct {
	mu    sync.Mutex
	ready map[string]*counter // by mission
	busy  map[string]bool     // being made beside
}

func newCounters() *counters {
	return &counters{ready: map[string]*counter{}, busy: map[string]bool{}}
}

func (c *counters) take(mission string) *counter {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.ready[mission]
	delete(c.ready, mission)
	return k
}

func (c *counters) put(mission string, k *counter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ready[mission] = k
}

// begin reports whether nobody makes the mission's counter already.
func (c *counters) begin(mission string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy[mission] {
		return false
	}
	c.busy[mission] = true
	return true
}

func (c *counters) end(mission string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.busy, mission)
}

// tally counts a conversation up to what a snapshot records of it. The caller
// holds the workspace. What it can't count stays as it was counted before: no
// snapshot fails for it.
func (l *Local) tally(m *loaded, meta gitstore.SessionMeta) {
	a, end := l.adapter(m.Agent), meta.Length-meta.Torn
	if isForeign(a) {
		return // hooks tell
	}
	k := l.counters.take(m.ID)
	if k == nil || !k.at.continues(meta) {
		if m.Talk == nil || !m.Talk.continues(meta) {
			at := l.inheritedTally(m, meta)
			m.Talk = &at
		}
		k = newCounter(a, *m.Talk, m.counted())
	}
	if end-k.at.Length > l.mostCounted {
		l.countBeside(m, k, end)
		return
	}
	turns, err := k.count(a, m.bind.Session, end)
	if err != nil {
		l.log.Info("count a conversation", "mission", m.ID, "error", err)
		return
	}
	if HasAgent(m.life) {
		l.counters.put(m.ID, k)
	}
	at := k.at
	m.Talk = &at
	if !m.live.Hooked {
		l.numberTurns(m, turns)
		m.lastSaid(k.follower.Conversation().Turns)
	}
}

// lastSaid takes the last prompt and tool from the conversation, where no hook
// says them.
func (m *loaded) lastSaid(turns []sessions.Turn) {
	for _, turn := range turns {
		m.LastPrompt = &Prompt{Text: beginning(turn.Prompt, mostPrompt), At: turn.At}
		if n := len(turn.Tools); n > 0 {
			tool := turn.Tools[n-1]
			m.LastTool = &ToolUse{Name: tool.Name, Target: m.below(tool.Target), At: tool.At}
		}
	}
}

// continues reports whether what is counted is the beginning of what meta is of.
func (t tallied) continues(meta gitstore.SessionMeta) bool {
	return t.Session == meta.SessionID && t.Generation == meta.Generation && t.Length <= meta.Length-meta.Torn
}

// inheritedTally is where counting a conversation begins that is new: with what
// the one says that it was made of, where that would take long to count again.
func (l *Local) inheritedTally(m *loaded, meta gitstore.SessionMeta) tallied {
	at := tallied{Session: meta.SessionID, Generation: meta.Generation}
	at.Before = l.tallyBefore(m)
	at.Tally = at.Before
	in := meta.Inherited
	if in == nil || in.Length <= l.mostCounted || replaces(l.adapter(m.Agent)) {
		return at
	}
	source, err := m.project.storedAt(in.Record)
	if err != nil || source.Talk == nil {
		return at
	}
	at.Length, at.From, at.Before, at.Tally = in.Length, in.Length, source.Talk.Tally, source.Talk.Tally
	return at
}

// tallyBefore counts what the conversation has in earlier files than its newest. Where
// that would take long, what was counted until now stays, with what its user took back.
func (l *Local) tallyBefore(m *loaded) (t Tally) {
	a := l.adapter(m.Agent)
	follower := a.Follow()
	fed := &limitedFeeder{feeder{follower}, l.mostCounted}
	err := l.readBefore(m, fed)
	switch {
	case errors.Is(err, errLongTalk) && m.Talk != nil:
		return m.Talk.Tally
	case err != nil:
		l.log.Info("count a conversation", "mission", m.ID, "error", err)
	default:
		c := follower.Conversation()
		t.add(c, c.Turns)
	}
	return t
}

var errLongTalk = errors.New("too much to be counted now")

// limitedFeeder feeds no more than so many bytes.
type limitedFeeder struct {
	feeder
	left int64
}

func (f *limitedFeeder) Write(p []byte) (int, error) {
	if f.left -= int64(len(p)); f.left < 0 {
		return 0, errLongTalk
	}
	return f.feeder.Write(p)
}

func newCounter(a sessions.Adapter, at tallied, mine []string) *counter {
	at.Length = at.From // what of the last turn was counted is fed again
	return &counter{at: at, follower: a.Follow(), mine: mine}
}

// counted are the sessions whose turns count as the mission's: its own, where it is no
// fork, which has inherited all. What its agent has itself copied of another session
// (claude --resume X --fork-session) is that one's.
func (m *loaded) counted() []string {
	if m.Parent != nil {
		return nil
	}
	return append(slices.Clone(m.Sessions), m.stored.Session)
}

// own leaves out the turns up to the last one that is not counted: they were copied
// together, and one without an answer does not say so.
func (k *counter) own(turns []sessions.Turn) []sessions.Turn {
	for i := len(turns) - 1; i >= 0 && k.mine != nil; i-- {
		if from := turns[i].From; from != "" && !slices.Contains(k.mine, from) {
			return turns[i+1:]
		}
	}
	return turns
}

// count reads the conversation on, up to end. The turns are those that were read, from the
// last one on that was read before.
func (k *counter) count(a sessions.Adapter, path string, end int64) ([]sessions.Turn, error) {
	f, _, err := disk.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := k.feed(f, end); err != nil {
		return nil, err
	}
	turns := k.own(k.follower.Conversation().Turns)
	return turns, k.fold(a, f)
}

// feed hands [next, end) to the follower.
func (k *counter) feed(f *os.File, end int64) error {
	n, err := io.Copy(feeder{k.follower}, io.NewSectionReader(f, k.at.Length, end-k.at.Length))
	if err == nil && n < end-k.at.Length {
		err = io.ErrUnexpectedEOF
	}
	k.at.Length += n
	return err
}

type feeder struct{ sessions.Follower }

func (f feeder) Write(p []byte) (int, error) {
	f.Feed(p)
	return len(p), nil
}

// fold sums up what was fed. Turns that are over are not kept: the next
// conversation goes on from the beginning of its last turn.
func (k *counter) fold(a sessions.Adapter, f *os.File) error {
	c := k.follower.Conversation()
	k.at.Tally = k.at.Before
	own := k.own(c.Turns)
	k.at.Tally.add(c, own)
	if len(c.Turns) < 2 || replaces(a) {
		return nil
	}
	last := c.Turns[len(c.Turns)-1]
	k.at.Before.add(c, own[:max(0, len(own)-1)])
	end := k.at.Length
	k.at.From += last.Start
	k.at.Length, k.follower = k.at.From, a.Follow()
	return k.feed(f, end)
}

// replaces reports whether a conversation can only be counted from its beginning.
func replaces(a sessions.Adapter) bool {
	_, ok := a.(sessions.Replacing)
	return ok
}

// add takes in turns of a conversation.
func (t *Tally) add(c sessions.Conversation, turns []sessions.Turn) {
	for _, turn := range turns {
		t.Prompts++
		t.Tools += len(turn.Tools)
		t.Compactions += turn.Compactions
		t.Input += max(0, turn.Tokens.Input)
		t.Output += max(0, turn.Tokens.Output)
	}
	if c.Cost > 0 {
		t.Cost = c.Cost
	}
}

// countBeside counts what is too much for a snapshot that an agent waits for.
// The next snapshot goes on from there.
func (l *Local) countBeside(m *loaded, k *counter, end int64) {
	if !l.counters.begin(m.ID) {
		return
	}
	if !l.startWorker() {
		l.counters.end(m.ID)
		return
	}
	a, path, id := l.adapter(m.Agent), m.bind.Session, m.ID
	made := newCounter(a, k.at, k.mine)
	go func() {
		defer l.working.Done()
		defer l.counters.end(id)
		if err := made.countSlowly(l.closing, a, path, end); err != nil {
			l.log.Info("count a conversation", "mission", id, "error", err)
			return
		}
		l.counters.put(id, made)
	}()
}

// countSlowly is count in pieces, between which it can be ended.
func (k *counter) countSlowly(ctx context.Context, a sessions.Adapter, path string, end int64) error {
	f, _, err := disk.OpenRegular(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for k.at.Length < end {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := errors.Join(k.feed(f, min(end, k.at.Length+mostCounted)), k.fold(a, f)); err != nil {
			return err
		}
	}
	return nil
}

// plus is two tallies together: of a mission's conversation, and of those that
// its user has left behind.
func (t Tally) plus(o Tally) Tally {
	return Tally{
		Prompts: t.Prompts + o.Prompts, Tools: t.Tools + o.Tools, Input: t.Input + o.Input, Output: t.Output + o.Output,
		Compactions: t.Compactions + o.Compactions, Resets: t.Resets + o.Resets, Cost: t.Cost + o.Cost,
	}
}

// talked is what was said in a mission so far, nil if nothing was counted.
func (s *stored) talked() *Tally {
	if s.Talk == nil && s.Left == nil {
		return nil
	}
	var t Tally
	if s.Talk != nil {
		t = s.Talk.Tally
	}
	if s.Left != nil {
		t = t.plus(*s.Left)
	}
	return &t
}
