package conversations

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// MaxCountedBytes is how many bytes a snapshot counts while an agent waits for it: an
// eighth of a second's work at worst, and usually some kilobytes. More is counted
// beside it, and is in the next one.
const MaxCountedBytes = 4 << 20

// conversationCounter goes on counting one conversation.
type conversationCounter struct {
	progress        projects.TallyProgress
	follower        sessions.Follower // fed with [at.From, at.Length)
	countedSessions []string          // the sessions whose turns count; nil: all
}

// counterPool are those of the missions that this process has counted, so that what
// was appended is all that is read. It is safe for concurrent use; one counter is
// used by whoever has its mission's workspace.
type counterPool struct {
	mu    sync.Mutex
	ready map[string]*conversationCounter // by mission
	busy  map[string]bool                 // being made beside
}

func newCounterPool() *counterPool {
	return &counterPool{ready: map[string]*conversationCounter{}, busy: map[string]bool{}}
}

func (c *counterPool) Take(mission string) *conversationCounter {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.ready[mission]
	delete(c.ready, mission)
	return k
}

func (c *counterPool) put(mission string, k *conversationCounter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ready[mission] = k
}

// startCounting reports whether nobody makes the mission's counter already.
func (c *counterPool) startCounting(mission string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy[mission] {
		return false
	}
	c.busy[mission] = true
	return true
}

func (c *counterPool) stopCounting(mission string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.busy, mission)
}

// CountConversation counts a conversation up to what a snapshot records of it. The caller
// holds the workspace. What it can't count stays as it was counted before: no
// snapshot fails for it.
func (l *Library) CountConversation(m *projects.Mission, meta records.SessionMeta) {
	a, end := l.Adapter(m.Agent), meta.Length-meta.Torn
	if projects.IsForeignAdapter(a) {
		return // hooks tell
	}
	k := l.CounterPool.Take(m.ID)
	if k == nil || !tallyMatches(k.progress, meta) {
		if m.Tally == nil || !tallyMatches(*m.Tally, meta) {
			at := l.startingTally(m, meta)
			m.Tally = &at
		}
		k = NewCounter(a, *m.Tally, countedSessions(m))
	}
	if end-k.progress.Length > l.MaxCountedBytes {
		if missions.HasAgent(m.Lifecycle) || m.Tip != nil {
			l.countInBackground(m, k, end)
			return
		}
		// It was over before it became a mission: nobody waits, and no next snapshot would take
		// what is counted beside.
		if err := k.countInPieces(l.Closing, a, m.Binding.SessionPath, end); err != nil {
			l.Logger.Info("count a conversation", "mission", m.ID, "error", err)
			return
		}
	}
	turns, err := k.CountTo(a, m.Binding.SessionPath, end)
	if err != nil {
		l.Logger.Info("count a conversation", "mission", m.ID, "error", err)
		return
	}
	if missions.HasAgent(m.Lifecycle) {
		l.CounterPool.put(m.ID, k)
	}
	at := k.progress
	m.Tally = &at
	if !m.Live.HasHooks {
		l.numberTurns(m, turns)
		TakeLastPrompt(m, k.follower.Conversation().Turns)
	}
}

// TakeLastPrompt takes the last prompt and tool from the conversation, where no hook
// says them.
func TakeLastPrompt(m *projects.Mission, turns []sessions.Turn) {
	for _, turn := range turns {
		m.LastPrompt = &missions.Prompt{Text: missions.TruncateText(projects.RedactText(turn.Prompt), missions.MaxPromptBytes), At: turn.At}
		if n := len(turn.Tools); n > 0 {
			tool := turn.Tools[n-1]
			m.LastTool = &missions.ToolUse{Name: tool.Name, Target: projects.RedactTarget(m.RelativePath(tool.Target)), At: tool.At}
		}
	}
}

// tallyMatches reports whether what is counted is the beginning of what meta is of.
func tallyMatches(t projects.TallyProgress, meta records.SessionMeta) bool {
	return t.Session == meta.SessionID && t.Generation == meta.Generation && t.Length <= meta.Length-meta.Torn
}

// startingTally is where the counting of a new conversation begins: with what the
// conversation says that it was made of, where counting that again would take long.
func (l *Library) startingTally(m *projects.Mission, meta records.SessionMeta) projects.TallyProgress {
	at := projects.TallyProgress{Session: meta.SessionID, Generation: meta.Generation}
	at.TallyBefore = l.tallyEarlierFiles(m)
	at.Total = at.TallyBefore
	in := meta.Inherited
	if in == nil || in.Length <= l.MaxCountedBytes || MustCountWhole(l.Adapter(m.Agent)) {
		return at
	}
	source, err := m.Project.ReadStored(in.Record)
	if err != nil || source.Tally == nil {
		return at
	}
	at.Length, at.LastTurnStart, at.TallyBefore, at.Total = in.Length, in.Length, source.Tally.Total, source.Tally.Total
	return at
}

// tallyEarlierFiles counts what the conversation has in earlier files than its newest. Where
// that would take long, what was counted until now stays, with what its user took back.
func (l *Library) tallyEarlierFiles(m *projects.Mission) (t missions.Tally) {
	a := l.Adapter(m.Agent)
	follower := a.Follow()
	fed := &limitedFeeder{feeder{follower}, l.MaxCountedBytes}
	err := l.readEarlierFiles(m, fed)
	switch {
	case errors.Is(err, errLongConversation) && m.Tally != nil:
		return m.Tally.Total
	case err != nil:
		l.Logger.Info("count a conversation", "mission", m.ID, "error", err)
	default:
		c := follower.Conversation()
		AddTurns(&t, c, c.Turns)
	}
	return t
}

var errLongConversation = errors.New("too much to be counted now")

// limitedFeeder feeds no more than so many bytes.
type limitedFeeder struct {
	feeder
	remaining int64
}

func (f *limitedFeeder) Write(p []byte) (int, error) {
	if f.remaining -= int64(len(p)); f.remaining < 0 {
		return 0, errLongConversation
	}
	return f.feeder.Write(p)
}

func NewCounter(a sessions.Adapter, at projects.TallyProgress, mine []string) *conversationCounter {
	at.Length = at.LastTurnStart // what of the last turn was counted is fed again
	return &conversationCounter{progress: at, follower: a.Follow(), countedSessions: mine}
}

// countedSessions are the sessions whose turns count as the mission's: its own, where it is no
// fork, which has inherited all. What its agent has itself copied of another session
// (claude --resume X --fork-session) is that one's.
func countedSessions(m *projects.Mission) []string {
	if m.Parent != nil {
		return nil
	}
	return append(slices.Clone(m.FormerSessions), m.Stored.Session)
}

// ownTurns leaves out the turns up to the last one that is not counted: they were copied
// together, and one without an answer does not say so.
func (k *conversationCounter) ownTurns(turns []sessions.Turn) []sessions.Turn {
	for i := len(turns) - 1; i >= 0 && k.countedSessions != nil; i-- {
		if from := turns[i].From; from != "" && !slices.Contains(k.countedSessions, from) {
			return turns[i+1:]
		}
	}
	return turns
}

// CountTo reads the conversation on, up to end. The turns are those that were read, from the
// last one on that was read before.
func (k *conversationCounter) CountTo(a sessions.Adapter, path string, end int64) ([]sessions.Turn, error) {
	f, _, err := disk.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := k.feed(f, end); err != nil {
		return nil, err
	}
	turns := k.ownTurns(k.follower.Conversation().Turns)
	return turns, k.sumUp(a, f)
}

// feed hands [next, end) to the follower.
func (k *conversationCounter) feed(f *os.File, end int64) error {
	n, err := io.Copy(feeder{k.follower}, io.NewSectionReader(f, k.progress.Length, end-k.progress.Length))
	if err == nil && n < end-k.progress.Length {
		err = io.ErrUnexpectedEOF
	}
	k.progress.Length += n
	return err
}

type feeder struct{ sessions.Follower }

func (f feeder) Write(p []byte) (int, error) {
	f.Feed(p)
	return len(p), nil
}

// sumUp sums up what was fed. Turns that are over are not kept: the next
// conversation goes on from the beginning of its last turn.
func (k *conversationCounter) sumUp(a sessions.Adapter, f *os.File) error {
	c := k.follower.Conversation()
	k.progress.Total = k.progress.TallyBefore
	own := k.ownTurns(c.Turns)
	AddTurns(&k.progress.Total, c, own)
	if len(c.Turns) < 2 || MustCountWhole(a) {
		return nil
	}
	last := c.Turns[len(c.Turns)-1]
	AddTurns(&k.progress.TallyBefore, c, own[:max(0, len(own)-1)])
	end := k.progress.Length
	k.progress.LastTurnStart += last.Start
	k.progress.Length, k.follower = k.progress.LastTurnStart, a.Follow()
	return k.feed(f, end)
}

// MustCountWhole reports whether a conversation can only be counted from its beginning.
func MustCountWhole(a sessions.Adapter) bool {
	_, ok := a.(sessions.Replacing)
	return ok
}

// AddTurns takes in turns of a conversation.
func AddTurns(t *missions.Tally, c sessions.Conversation, turns []sessions.Turn) {
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

// countInBackground counts what is too much for a snapshot that an agent waits for.
// The next snapshot goes on from there.
func (l *Library) countInBackground(m *projects.Mission, k *conversationCounter, end int64) {
	if !l.CounterPool.startCounting(m.ID) {
		return
	}
	if !l.StartWorker() {
		l.CounterPool.stopCounting(m.ID)
		return
	}
	a, path, id := l.Adapter(m.Agent), m.Binding.SessionPath, m.ID
	made := NewCounter(a, k.progress, k.countedSessions)
	go func() {
		defer l.Workers.Done()
		defer l.CounterPool.stopCounting(id)
		if err := made.countInPieces(l.Closing, a, path, end); err != nil {
			l.Logger.Info("count a conversation", "mission", id, "error", err)
			return
		}
		l.CounterPool.put(id, made)
	}()
}

// countInPieces is count in pieces, between which it can be ended.
func (k *conversationCounter) countInPieces(ctx context.Context, a sessions.Adapter, path string, end int64) error {
	f, _, err := disk.OpenRegular(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for k.progress.Length < end {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := errors.Join(k.feed(f, min(end, k.progress.Length+MaxCountedBytes)), k.sumUp(a, f)); err != nil {
			return err
		}
	}
	return nil
}

// MissionTally is what was said in a mission so far, nil if nothing was counted.
func MissionTally(s *projects.Stored) *missions.Tally {
	if s.Tally == nil && s.LeftTally == nil {
		return nil
	}
	var t missions.Tally
	if s.Tally != nil {
		t = s.Tally.Total
	}
	if s.LeftTally != nil {
		t = t.Plus(*s.LeftTally)
	}
	return &t
}
