package missions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/missions/userfile"
	"github.com/umbra-vcs/umbra/sessions"
)

// sessionState is what a snapshot says of its conversation.
type sessionState struct {
	Events  int // complete lines
	Partial bool
	Open    []sessions.Tool
	Meta    gitstore.SessionMeta // what is recorded of the file; zero where there is none
}

// recipe is how a fork's or restored session was made of another: stored with
// the inherited part, which is made again by it instead of being kept twice.
type recipe struct {
	Agent   string    `json:"agent"`
	OldID   string    `json:"old_id"`
	NewID   string    `json:"new_id"`
	OldCwd  string    `json:"old_cwd"`
	NewCwd  string    `json:"new_cwd"`
	OldRoot string    `json:"old_root"`
	NewRoot string    `json:"new_root"`
	OldName string    `json:"old_name,omitempty"`
	NewName string    `json:"new_name,omitempty"`
	Now     time.Time `json:"now"`
	Version int       `json:"version"` // of the adapter's Rewrite
}

func (r recipe) rewrite() sessions.Rewrite {
	return sessions.Rewrite{
		OldID: r.OldID, NewID: r.NewID, OldCwd: r.OldCwd, NewCwd: r.NewCwd,
		OldRoot: r.OldRoot, NewRoot: r.NewRoot, OldName: r.OldName, NewName: r.NewName, Now: r.Now, Version: r.Version,
	}
}

// putSession brings the conversation in a record up to what the agent's file
// holds now. A mission without a session, or whose session was not written yet,
// has none in its record. Where nobody compares the whole file later, it is done
// now: at the end of a mission, and without a watcher at each idle point.
func (l *Local) putSession(t *gitstore.RecordTree, m *loaded, take Take, ws *workspace, batch *gitstore.Batch) (sessionState, error) {
	a := l.adapter(m.Agent)
	if a == nil || m.bind.Session == "" {
		return sessionState{}, nil
	}
	m.seekSession(a)
	file, info, err := disk.OpenRegular(m.bind.Session)
	if errors.Is(err, fs.ErrNotExist) {
		return l.sessionMissing(t, m)
	}
	if err != nil {
		return l.sessionUnread(t, m, err)
	}
	defer file.Close()
	before, _ := t.SessionMeta()
	identity, idle := identityOf(info), !InTurn(take.Of)
	whole := take.Whole || identity == (Place{}) || idle && ws.unwatched() || !HasAgent(take.Of)
	meta, err := t.AppendSession(batch, gitstore.SessionSource{
		Agent: m.Agent, SessionID: m.stored.Session, File: file, Length: info.Size(),
		SameFile: identity == m.bind.SessionFile && !whole, Idle: idle, Inherited: m.inherited,
	})
	if err != nil {
		return sessionState{}, fmt.Errorf("session of %s: %w", m.Name, err)
	}
	events, err := l.countEvents(m, file, before, meta)
	if err != nil {
		return sessionState{}, err
	}
	m.bind.SessionFile, m.inherited = identity, nil
	return sessionState{Events: events, Meta: meta}, l.putSides(t, a, m, ws, batch)
}

// seekSession looks for a session's file that is not where it was expected: some
// agents name a new one by the time, and without hooks nobody tells its name. What a
// hook has told stays while nothing else is there: the file comes after the prompt.
// Of a session that goes on in another file, hooks tell with the next prompt alone.
func (m *loaded) seekSession(a sessions.Adapter) {
	if of, ok := a.(sessions.Segmented); ok && m.bind.Session != "" {
		m.bind.Session = of.Current(m.adapterEnv(), m.bind.Session)
		return
	}
	if _, err := os.Stat(m.bind.Session); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	path := a.Path(m.adapterEnv(), resolvedOr(m.cwd()), m.stored.Session)
	if _, err := os.Stat(path); err == nil {
		m.bind.Session = path
	}
}

// sessionUnread goes on without the conversation: the user's files matter more.
// What was recorded of it stays, and the snapshot is marked as partial.
func (l *Local) sessionUnread(t *gitstore.RecordTree, m *loaded, why error) (sessionState, error) {
	m.live.Problem = fmt.Sprintf("the session of %s can't be read, its snapshots are without the conversation: %v", m.Name, userfile.Reason(why))
	l.log.Warn("read a session", "mission", m.ID, "error", why)
	state, err := l.sessionMissing(t, m)
	state.Partial = true
	return state, err
}

// sessionMissing keeps what the record holds of a session whose file is gone:
// it can be made again from there.
func (l *Local) sessionMissing(t *gitstore.RecordTree, m *loaded) (sessionState, error) {
	meta, err := t.SessionMeta()
	if errors.Is(err, gitstore.ErrNoEntry) {
		return sessionState{}, nil
	}
	if err != nil {
		return sessionState{}, err
	}
	if meta.SessionID != m.stored.Session {
		return sessionState{}, t.RemoveSession()
	}
	return sessionState{Events: m.lastEvents(), Partial: true}, nil
}

// lastEvents is the count in the newest snapshot.
func (m *loaded) lastEvents() int {
	if m.tip == nil {
		return 0
	}
	info, err := m.project.snapshotInfo(m.tip)
	if err != nil {
		return 0
	}
	return info.Events
}

// countEvents counts the complete lines of a session: of what was appended, if
// the rest was counted before, be it when it was written.
func (l *Local) countEvents(m *loaded, file *os.File, before, now gitstore.SessionMeta) (int, error) {
	from, count := int64(0), lineCounter(0)
	if before.SessionID == now.SessionID && before.Generation == now.Generation && m.tip != nil && m.record == m.tip.Record {
		from, count = before.Length-before.Torn, lineCounter(m.lastEvents())
	} else if in := now.Inherited; in != nil {
		from, count = in.Length, lineCounter(in.Lines)
	} else if earlier, err := l.linesBefore(m); err != nil {
		return 0, fmt.Errorf("session of %s: %w", m.Name, err)
	} else {
		count = earlier
	}
	if _, err := io.Copy(&count, io.NewSectionReader(file, from, now.Length-now.Torn-from)); err != nil {
		return 0, fmt.Errorf("session of %s: %w", m.Name, err)
	}
	return int(count), nil
}

// lineCounter counts the complete lines that are written to it.
type lineCounter int

func (c *lineCounter) Write(p []byte) (int, error) {
	*c += lineCounter(bytes.Count(p, []byte{'\n'}))
	return len(p), nil
}

// sessionOf opens the whole conversation that a record holds. ErrNoSession if it
// holds none.
func (l *Local) sessionOf(p *project, record gitstore.ID) (io.ReadCloser, gitstore.SessionMeta, error) {
	r, meta, err := l.sessionBeside(p, record, "")
	if err != nil {
		return nil, meta, err
	}
	return r, meta, nil
}

// sessionBeside is sessionOf, and faster where the file at path, the agent's own,
// still holds what was recorded of it. There need be no such file.
func (l *Local) sessionBeside(p *project, record gitstore.ID, path string) (*joined, gitstore.SessionMeta, error) {
	j, meta, err := l.fileBeside(p, record, path)
	if err != nil {
		return nil, meta, err
	}
	if err := l.joinRecorded(p, record, meta.Agent, j); err != nil {
		return nil, meta, errors.Join(Errorf(KindDamaged, "umbra doctor", "conversation in record %s: %w", record.Short(), err), j.Close())
	}
	return j, meta, nil
}

// fileBeside opens what a record holds of the session's newest file: exactly the
// bytes that the file held.
func (l *Local) fileBeside(p *project, record gitstore.ID, path string) (*joined, gitstore.SessionMeta, error) {
	reader, err := openRecorded(p, record, path)
	if errors.Is(err, gitstore.ErrNoEntry) {
		return nil, gitstore.SessionMeta{}, sessions.ErrNoSession
	}
	if err != nil {
		return nil, gitstore.SessionMeta{}, Errorf(KindDamaged, "umbra doctor", "conversation in record %s: %w", record.Short(), err)
	}
	own := reader.own
	if own.Meta.Inherited == nil {
		return reader, own.Meta, nil
	}
	inherited, err := l.inherit(p, *own.Meta.Inherited)
	if err != nil {
		reader.Close()
		return nil, own.Meta, Errorf(KindDamaged, "umbra doctor", "conversation in record %s: its inherited part: %w", record.Short(), err)
	}
	reader.Reader = io.MultiReader(inherited, own)
	reader.closers = append(reader.closers, inherited)
	return reader, own.Meta, nil
}

// joined reads parts, and closes what they are read from.
type joined struct {
	io.Reader
	own     *gitstore.SessionReader // what the record itself holds
	before  io.Reader               // what is in earlier files than the newest; nil: nothing
	shift   int64                   // by how much what is in the newest file stands later in the whole
	closers []io.Closer
}

// Close implements io.Closer.
func (j *joined) Close() error {
	var errs []error
	for _, c := range j.closers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// inherit makes an inherited part again from its source, as it is read. The
// bytes are proved against the id that was recorded: a part that comes out
// otherwise is an error of Read.
func (l *Local) inherit(p *project, in gitstore.Inherited) (io.ReadCloser, error) {
	var r recipe
	if err := json.Unmarshal(in.Recipe, &r); err != nil {
		return nil, fmt.Errorf("recipe: %w", err)
	}
	a := l.adapter(r.Agent)
	if a == nil {
		return nil, fmt.Errorf("no adapter for %s", r.Agent)
	}
	source, _, err := l.sessionOf(p, in.Record)
	if err != nil {
		return nil, err
	}
	out, w := io.Pipe()
	go func() {
		defer source.Close()
		proof := gitstore.NewInheritedProof()
		err := a.Rewrite(io.MultiWriter(w, proof), source, in.SourceLength, r.rewrite())
		if err == nil && !proof.Proves(&in) {
			err = fmt.Errorf("made again, it differs from what was recorded: %w", gitstore.ErrDamaged)
		}
		w.CloseWithError(err)
	}()
	return out, nil
}

// conversation reads the whole conversation of a snapshot; an empty one if
// there is none.
func (l *Local) conversation(m *loaded, s *gitstore.Snapshot) (sessions.Conversation, error) {
	r, meta, err := l.sessionOf(m.project, s.Record)
	if errors.Is(err, sessions.ErrNoSession) {
		return sessions.Conversation{}, nil
	}
	if err != nil {
		return sessions.Conversation{}, err
	}
	defer r.Close()
	a := l.adapter(meta.Agent)
	if a == nil {
		return sessions.Conversation{}, nil
	}
	return a.Read(r)
}

// saidBetween is what was said after from and up to to; nil is now.
func (l *Local) saidBetween(from found, to *found, texts bool) (ConversationDiff, error) {
	d := ConversationDiff{}
	earlier, err := l.conversation(from.loaded, from.step.Snapshot)
	if err != nil {
		return d, err
	}
	var later sessions.Conversation
	if to != nil {
		later, err = l.conversation(to.loaded, to.step.Snapshot)
	} else {
		later, err = l.presentConversation(from.loaded)
	}
	if err != nil {
		return d, err
	}
	d.EventsAdded = max(0, later.Events-earlier.Events)
	if !texts {
		return d, nil
	}
	first := common(earlier.Turns, later.Turns)
	if first > 0 && !earlier.Turns[first-1].Done {
		first--
	}
	d.Said = saidOf(later.Turns[first:])
	return d, nil
}

// common counts the turns by which two conversations begin together: of one in which
// its user went back, those before that.
func common(a, b []sessions.Turn) int {
	n := 0
	for n < min(len(a), len(b)) && a[n].At.Equal(b[n].At) {
		n++
	}
	return n
}

// presentConversation reads the conversation as the agent's own files hold it now.
func (l *Local) presentConversation(m *loaded) (sessions.Conversation, error) {
	a := l.adapter(m.Agent)
	if a == nil || m.bind.Session == "" {
		return sessions.Conversation{}, nil
	}
	talk, _, err := l.openTalk(m, a)
	if errors.Is(err, fs.ErrNotExist) {
		return sessions.Conversation{}, nil
	}
	if err != nil {
		return sessions.Conversation{}, err
	}
	defer talk.Close()
	return a.Read(talk)
}

func saidOf(turns []sessions.Turn) []Said {
	var said []Said
	for _, t := range turns {
		said = append(said, Said{Role: "user", Text: t.Prompt, At: t.At})
		said = append(said, inOrder(t)...)
	}
	return said
}

// inOrder merges a turn's texts and tool calls by time; texts first where the
// file says nothing.
func inOrder(t sessions.Turn) []Said {
	var out []Said
	tools := t.Tools
	for _, text := range t.Texts {
		for len(tools) > 0 && tools[0].At.Before(text.At) {
			out = append(out, toolSaid(tools[0]))
			tools = tools[1:]
		}
		out = append(out, Said{Role: text.Role, Text: text.Text, At: text.At})
	}
	for _, tool := range tools {
		out = append(out, toolSaid(tool))
	}
	return out
}

func toolSaid(t sessions.Tool) Said {
	return Said{Role: "tool", Text: oneLine(t.Name, t.Target), At: t.At}
}

// talkRecorded reports whether the newest snapshot holds all that the session's
// files do.
func (l *Local) talkRecorded(m *loaded, ws *workspace) bool {
	a := l.adapter(m.Agent)
	if a == nil || m.bind.Session == "" {
		return true
	}
	m.seekSession(a)
	info, err := os.Stat(m.bind.Session)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	meta, err := m.project.store.SessionMeta(m.tip.Record)
	if err != nil || meta.SessionID != m.stored.Session || meta.Length != info.Size() {
		return false
	}
	same, err := l.sidesRecorded(m, a, ws)
	return same && err == nil // the snapshot says what is wrong
}
