package conversations

import (
	"context"
	"errors"
	"io"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// TurnRange says which turns of a conversation are to be read.
type TurnRange struct {
	Record gitstore.ID // the record that holds the conversation
	// File is the agent's own file, "" for none. What it holds beyond the record is read too.
	File string
	// Inherited reads the part as well that a copy has of another conversation, from Said on:
	// what is before was said in a third one.
	Inherited bool
	Said      int64
	// From and To are where to begin and to end; nil: where the conversation does.
	From, To *Border
	// Output has calls keep what they gave back.
	Output bool
	// Kept, if it is set, has what reading this record has found before.
	Kept *Kept
	// Border, if it is set, is called for each border, after the turns before it.
	Border func(Border)
}

// Kept is what is known of a record's conversation while parts of it are read one after the
// other. It holds no file open.
type Kept struct {
	Chunks *records.Chunks // of this and other conversations
	opened *records.SessionReader
}

// Border is where a conversation is read anew, so that it can be read from there on, with
// the same turns as if it had been read from its beginning. It depends on nothing that
// comes after what was read when it was found. Its places are those of PlacedTurn.
type Border struct {
	Turn int64 // where a turn begins
	Read int64 // how far was read
}

// PlacedTurn is a turn, and where it begins in the newest file of its session: before 0
// where that is in an earlier file.
type PlacedTurn struct {
	sessions.Turn
	Place int64
}

// ReadRecordedTurns gives turns of a recorded conversation in their order to a function. It keeps
// no more of the conversation at a time than a piece and the turn that goes on beyond it.
// There are none where no adapter can read them.
func (l *Library) ReadRecordedTurns(ctx context.Context, p *projects.Project, r TurnRange, each func(PlacedTurn) error) error {
	meta, err := r.readMeta(p)
	if errors.Is(err, gitstore.ErrNoEntry) {
		return nil
	}
	if err != nil {
		return err
	}
	a := l.Adapter(meta.Agent)
	if a == nil || projects.IsForeignAdapter(a) {
		return nil
	}
	least := r.Said // where what is read begins
	if meta.Inherited != nil && !r.Inherited {
		least = meta.Inherited.Length
	}
	from := least
	if r.From != nil {
		from = r.From.Turn
	}
	talk, begins, err := l.openTurns(p, a, meta, r, from)
	if err != nil {
		return err
	}
	defer talk.Close()
	kept := func(t PlacedTurn) error {
		if t.Place < least && least > 0 || r.To != nil && t.Place >= r.To.Turn {
			return nil
		}
		return each(t)
	}
	t := turnReader{adapter: a, size: l.PieceBytes, begins: begins, looked: begins, each: kept, border: r.Border, output: r.Output}
	if r.From != nil {
		t.looked = r.From.Read
	}
	if r.To != nil {
		t.until = r.To.Turn
		talk.Reader = io.LimitReader(talk.Reader, r.To.Read-begins)
	}
	err = t.read(ctx, talk)
	if errors.Is(err, errReached) {
		return nil
	}
	return err
}

func (r TurnRange) readMeta(p *projects.Project) (records.SessionMeta, error) {
	if r.Kept != nil && r.Kept.opened != nil {
		return r.Kept.opened.Meta, nil
	}
	return records.ReadSessionMeta(p.Store, r.Record)
}

// openOwnSession opens what the record itself holds, as it was opened before.
func (r TurnRange) openOwnSession(p *projects.Project) (*conversationReader, error) {
	if r.Kept == nil {
		return openOwnSession(p, r.Record, r.File)
	}
	if r.Kept.opened == nil {
		own, err := records.OpenSession(p.Store, r.Record)
		if err != nil {
			return nil, err
		}
		r.Kept.opened = own
	}
	return besideFile(r.Kept.opened.Again(r.Kept.Chunks), r.File), nil
}

// openTurns opens a conversation where its turns from a place on can be read, and says
// where in the session's newest file that is. A conversation that can only be understood
// from its beginning, or that is in several files, is opened whole.
func (l *Library) openTurns(p *projects.Project, a sessions.Adapter, meta records.SessionMeta, r TurnRange, from int64) (*conversationReader, int64, error) {
	_, segmented := a.(sessions.Segmented)
	var j *conversationReader
	var begins int64
	var err error
	if segmented || MustCountWhole(a) || r.Inherited {
		if j, _, err = l.openConversationWithFile(p, r.Record, r.File); err == nil {
			begins = -j.offsetInWhole
		}
	} else {
		if j, err = r.openOwnSession(p); err == nil {
			begins = j.recordedPart.From(from)
		}
	}
	if err != nil {
		return nil, 0, err
	}
	if skip := from - begins; skip > 0 && (r.From != nil || !segmented && !MustCountWhole(a)) {
		if _, err := io.CopyN(io.Discard, j, skip); err != nil && !errors.Is(err, io.EOF) {
			return nil, 0, errors.Join(err, j.Close())
		}
		begins = from
	}
	if r.File != "" {
		j.Reader = io.MultiReader(j.Reader, &laterPart{reader: j, file: r.File, from: meta.Length})
	}
	return j, begins, nil
}

// laterPart is what the agent's file holds beyond what was recorded of it: nothing, if it
// does not begin with that.
type laterPart struct {
	reader *conversationReader
	file   string
	from   int64
	opened bool
	rest   io.Reader
}

// Read implements io.Reader.
func (p *laterPart) Read(b []byte) (int, error) {
	if !p.opened {
		p.opened = true
		if f, info, err := disk.OpenRegular(p.file); err == nil {
			p.reader.closers = append(p.reader.closers, f)
			if p.reader.recordedPart.GoesOnIn(f) {
				p.rest = io.NewSectionReader(f, p.from, info.Size()-p.from)
			}
		}
	}
	if p.rest == nil {
		return 0, io.EOF
	}
	return p.rest.Read(b)
}

// turnReader reads a conversation piece by piece. When turns are over it begins anew at the
// last one, so that it need not hold what was read before.
type turnReader struct {
	adapter sessions.Adapter
	size    int64 // of the pieces
	begins  int64 // where the bytes that the follower was fed begin in the file
	looked  int64 // how far was read when it was last looked for a border
	until   int64 // where to stop, a border; 0: nowhere
	each    func(PlacedTurn) error
	border  func(Border)
	output  bool // calls keep what they gave back

	follower sessions.Follower
	held     []byte // the last of the bytes that the follower was fed
	fed      int64  // how many it was fed
}

// How much of a conversation is read at a time, and how much is held of it to begin anew.
const (
	pieceBytes = 32 << 10
	mostHeld   = 32 << 20
)

// errReached says that all was read that was asked for.
var errReached = errors.New("read as far as was asked for")

// nextLook is how far is read until it is looked for a border again: to a multiple of
// the size of pieces, and in a long turn the farther, the longer it is. It depends on nothing but
// where the border before is and how far was read.
func (t *turnReader) nextLook() int64 {
	next := t.looked + max(t.size, (t.looked-t.begins)/2)
	return next - (next%t.size+t.size)%t.size
}

func (t *turnReader) read(ctx context.Context, r io.Reader) error {
	t.follower = t.follow()
	piece := make([]byte, min(t.size, pieceBytes))
	for at := t.begins; ; {
		next := t.nextLook()
		n, err := io.ReadFull(r, piece[:min(int64(len(piece)), next-at)])
		t.feed(piece[:n])
		at += int64(n)
		ended := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !ended {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if ended {
			return t.hand(t.follower.Conversation().Turns)
		}
		if at < next {
			continue
		}
		t.looked = at
		if err := t.handOver(t.follower.Conversation().Turns); err != nil {
			return err
		}
	}
}

func (t *turnReader) follow() sessions.Follower {
	f := t.adapter.Follow()
	if keeping, ok := f.(sessions.OutputKeeping); ok && t.output {
		keeping.KeepOutput()
	}
	return f
}

func (t *turnReader) feed(p []byte) {
	t.follower.Feed(p)
	t.fed += int64(len(p))
	if t.held = append(t.held, p...); len(t.held) > mostHeld {
		t.held = append(t.held[:0], p...)
	}
}

// hand gives turns to who reads.
func (t *turnReader) hand(turns []sessions.Turn) error {
	for _, turn := range turns {
		if err := t.each(PlacedTurn{Turn: turn, Place: t.begins + turn.Start}); err != nil {
			return err
		}
	}
	return nil
}

// handOver gives the turns that are over, where the last one can be begun anew.
func (t *turnReader) handOver(turns []sessions.Turn) error {
	if len(turns) < 2 || MustCountWhole(t.adapter) {
		return nil
	}
	last := turns[len(turns)-1].Start
	first := t.fed - int64(len(t.held))
	if last < first {
		return nil
	}
	if err := t.hand(turns[:len(turns)-1]); err != nil {
		return err
	}
	rest := t.held[last-first:]
	t.begins, t.fed, t.held, t.follower = t.begins+last, 0, nil, t.follow()
	if t.border != nil {
		t.border(Border{Turn: t.begins, Read: t.looked})
	}
	if t.until != 0 && t.begins >= t.until {
		return errReached
	}
	t.feed(rest)
	return nil
}
