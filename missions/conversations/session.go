package conversations

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
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/userfile"
	"github.com/umbra-vcs/umbra/sessions"
)

// SessionState is what a snapshot says of its conversation.
type SessionState struct {
	Events    int // complete lines
	Partial   bool
	OpenTools []sessions.Tool
	Meta      gitstore.SessionMeta // what is recorded of the file; zero where there is none
}

// CopyRecipe is how a fork's or restored session was made of another: stored with
// the inherited part, which is made again by it instead of being kept twice.
type CopyRecipe struct {
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

func (r CopyRecipe) AsRewrite() sessions.Rewrite {
	return sessions.Rewrite{
		OldID: r.OldID, NewID: r.NewID, OldCwd: r.OldCwd, NewCwd: r.NewCwd,
		OldRoot: r.OldRoot, NewRoot: r.NewRoot, OldName: r.OldName, NewName: r.NewName, Now: r.Now, Version: r.Version,
	}
}

// FindSessionFile looks for a session's file that is not where it was expected: some
// agents name a new one by the time, and without hooks nobody tells its name. What a
// hook has told stays while nothing else is there: the file comes after the prompt.
// Of a session that goes on in another file, hooks tell with the next prompt alone.
func FindSessionFile(m *projects.Mission, a sessions.Adapter) {
	if of, ok := a.(sessions.Segmented); ok && m.Binding.SessionPath != "" {
		m.Binding.SessionPath = of.Current(m.AdapterEnv(), m.Binding.SessionPath)
		return
	}
	if _, err := os.Stat(m.Binding.SessionPath); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	path := a.Path(m.AdapterEnv(), projects.ResolveLinks(m.Cwd()), m.Stored.Session)
	if _, err := os.Stat(path); err == nil {
		m.Binding.SessionPath = path
	}
}

// SkipUnreadSession goes on without the conversation: the user's files matter more.
// What was recorded of it stays, and the snapshot is marked as partial.
func (l *Library) SkipUnreadSession(t *gitstore.RecordTree, m *projects.Mission, why error) (SessionState, error) {
	m.Live.Problem = fmt.Sprintf("the session of %s can't be read, its snapshots are without the conversation: %v", m.Name, userfile.Reason(why))
	l.Logger.Warn("read a session", "mission", m.ID, "error", why)
	state, err := l.KeepMissingSession(t, m)
	state.Partial = true
	return state, err
}

// KeepMissingSession keeps what the record holds of a session whose file is gone:
// it can be made again from there.
func (l *Library) KeepMissingSession(t *gitstore.RecordTree, m *projects.Mission) (SessionState, error) {
	meta, err := t.SessionMeta()
	if errors.Is(err, gitstore.ErrNoEntry) {
		return SessionState{}, nil
	}
	if err != nil {
		return SessionState{}, err
	}
	if meta.SessionID != m.Stored.Session {
		return SessionState{}, t.RemoveSession()
	}
	return SessionState{Events: lastEventCount(m), Partial: true}, nil
}

// lastEventCount is the count in the newest snapshot.
func lastEventCount(m *projects.Mission) int {
	if m.Tip == nil {
		return 0
	}
	info, err := m.Project.ReadSnapshotInfo(m.Tip)
	if err != nil {
		return 0
	}
	return info.Events
}

// CountEvents counts the complete lines of a session: of what was appended, if
// the rest was counted before, be it when it was written.
func (l *Library) CountEvents(m *projects.Mission, file *os.File, before, now gitstore.SessionMeta) (int, error) {
	from, count := int64(0), lineCounter(0)
	if before.SessionID == now.SessionID && before.Generation == now.Generation && m.Tip != nil && m.Record == m.Tip.Record {
		from, count = before.Length-before.Torn, lineCounter(lastEventCount(m))
	} else if in := now.Inherited; in != nil {
		from, count = in.Length, lineCounter(in.Lines)
	} else if earlier, err := l.countEarlierLines(m); err != nil {
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

// OpenRecordedConversation opens the whole conversation that a record holds. ErrNoSession if it
// holds none.
func (l *Library) OpenRecordedConversation(p *projects.Project, record gitstore.ID) (io.ReadCloser, gitstore.SessionMeta, error) {
	r, meta, err := l.openConversationWithFile(p, record, "")
	if err != nil {
		return nil, meta, err
	}
	return r, meta, nil
}

// openConversationWithFile is OpenRecordedConversation, and faster where the file at path, the agent's own,
// still holds what was recorded of it. There need be no such file.
func (l *Library) openConversationWithFile(p *projects.Project, record gitstore.ID, path string) (*conversationReader, gitstore.SessionMeta, error) {
	j, meta, err := l.OpenNewestFile(p, record, path)
	if err != nil {
		return nil, meta, err
	}
	if err := l.joinEarlierRecorded(p, record, meta.Agent, j); err != nil {
		return nil, meta, errors.Join(missions.Errorf(missions.KindDamaged, "umbra doctor", "conversation in record %s: %w", record.Short(), err), j.Close())
	}
	return j, meta, nil
}

// OpenNewestFile opens what a record holds of the session's newest file: exactly the
// bytes that the file held.
func (l *Library) OpenNewestFile(p *projects.Project, record gitstore.ID, path string) (*conversationReader, gitstore.SessionMeta, error) {
	reader, err := openOwnSession(p, record, path)
	if errors.Is(err, gitstore.ErrNoEntry) {
		return nil, gitstore.SessionMeta{}, sessions.ErrNoSession
	}
	if err != nil {
		return nil, gitstore.SessionMeta{}, missions.Errorf(missions.KindDamaged, "umbra doctor", "conversation in record %s: %w", record.Short(), err)
	}
	own := reader.recordedPart
	if own.Meta.Inherited == nil {
		return reader, own.Meta, nil
	}
	inherited, err := l.RemakeInherited(p, *own.Meta.Inherited)
	if err != nil {
		reader.Close()
		return nil, own.Meta, missions.Errorf(missions.KindDamaged, "umbra doctor", "conversation in record %s: its inherited part: %w", record.Short(), err)
	}
	reader.Reader = io.MultiReader(inherited, own)
	reader.closers = append(reader.closers, inherited)
	return reader, own.Meta, nil
}

// conversationReader reads parts, and closes what they are read from.
type conversationReader struct {
	io.Reader
	recordedPart  *gitstore.SessionReader // what the record itself holds
	earlierPart   io.Reader               // what is in earlier files than the newest; nil: nothing
	offsetInWhole int64                   // by how much what is in the newest file stands later in the whole
	closers       []io.Closer
}

// Close implements io.Closer.
func (j *conversationReader) Close() error {
	var errs []error
	for _, c := range j.closers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// RemakeInherited makes an inherited part again from its source, as it is read. The
// bytes are proved against the id that was recorded: a part that comes out
// otherwise is an error of Read.
func (l *Library) RemakeInherited(p *projects.Project, in gitstore.Inherited) (io.ReadCloser, error) {
	var r CopyRecipe
	if err := json.Unmarshal(in.Recipe, &r); err != nil {
		return nil, fmt.Errorf("recipe: %w", err)
	}
	a := l.Adapter(r.Agent)
	if a == nil {
		return nil, fmt.Errorf("no adapter for %s", r.Agent)
	}
	source, _, err := l.OpenRecordedConversation(p, in.Record)
	if err != nil {
		return nil, err
	}
	out, w := io.Pipe()
	go func() {
		defer source.Close()
		proof := gitstore.NewInheritedProof()
		err := a.Rewrite(io.MultiWriter(w, proof), source, in.SourceLength, r.AsRewrite())
		if err == nil && !proof.Proves(&in) {
			err = fmt.Errorf("made again, it differs from what was recorded: %w", gitstore.ErrDamaged)
		}
		w.CloseWithError(err)
	}()
	return out, nil
}

// ReadConversation reads the whole conversation of a snapshot; an empty one if
// there is none.
func (l *Library) ReadConversation(m *projects.Mission, s *gitstore.Snapshot) (sessions.Conversation, error) {
	r, meta, err := l.OpenRecordedConversation(m.Project, s.Record)
	if errors.Is(err, sessions.ErrNoSession) {
		return sessions.Conversation{}, nil
	}
	if err != nil {
		return sessions.Conversation{}, err
	}
	defer r.Close()
	a := l.Adapter(meta.Agent)
	if a == nil {
		return sessions.Conversation{}, nil
	}
	return a.Read(r)
}

// ConversationDiff is what was said after from and up to to; nil is now.
func (l *Library) ConversationDiff(from addresses.ResolvedMoment, to *addresses.ResolvedMoment, texts bool) (missions.ConversationDiff, error) {
	d := missions.ConversationDiff{}
	earlier, err := l.ReadConversation(from.Mission, from.Snapshot.Snapshot)
	if err != nil {
		return d, err
	}
	var later sessions.Conversation
	if to != nil {
		later, err = l.ReadConversation(to.Mission, to.Snapshot.Snapshot)
	} else {
		later, err = l.ReadPresentConversation(from.Mission)
	}
	if err != nil {
		return d, err
	}
	d.EventsAdded = max(0, later.Events-earlier.Events)
	if !texts {
		return d, nil
	}
	first := countCommonTurns(earlier.Turns, later.Turns)
	if first > 0 && !earlier.Turns[first-1].Done {
		first--
	}
	d.Lines = ConversationLines(later.Turns[first:])
	return d, nil
}

// countCommonTurns counts the turns by which two conversations begin together: of one in which
// its user went back, those before that.
func countCommonTurns(a, b []sessions.Turn) int {
	n := 0
	for n < min(len(a), len(b)) && a[n].At.Equal(b[n].At) {
		n++
	}
	return n
}

// ReadPresentConversation reads the conversation as the agent's own files hold it now.
func (l *Library) ReadPresentConversation(m *projects.Mission) (sessions.Conversation, error) {
	a := l.Adapter(m.Agent)
	if a == nil || m.Binding.SessionPath == "" {
		return sessions.Conversation{}, nil
	}
	talk, _, err := l.openPresentConversation(m, a)
	if errors.Is(err, fs.ErrNotExist) {
		return sessions.Conversation{}, nil
	}
	if err != nil {
		return sessions.Conversation{}, err
	}
	defer talk.Close()
	return a.Read(talk)
}

func ConversationLines(turns []sessions.Turn) []missions.ConversationLine {
	var said []missions.ConversationLine
	for _, t := range turns {
		said = append(said, missions.ConversationLine{Role: "user", Text: t.Prompt, At: t.At})
		said = append(said, turnLines(t)...)
	}
	return said
}

// turnLines merges a turn's texts and tool calls by time; texts first where the
// file says nothing.
func turnLines(t sessions.Turn) []missions.ConversationLine {
	var out []missions.ConversationLine
	tools := t.Tools
	for _, text := range t.Texts {
		for len(tools) > 0 && tools[0].At.Before(text.At) {
			out = append(out, toolLine(tools[0]))
			tools = tools[1:]
		}
		out = append(out, missions.ConversationLine{Role: text.Role, Text: text.Text, At: text.At})
	}
	for _, tool := range tools {
		out = append(out, toolLine(tool))
	}
	return out
}

func toolLine(t sessions.Tool) missions.ConversationLine {
	return missions.ConversationLine{Role: "tool", Text: missions.OneLine(t.Name, t.Target), At: t.At}
}
