package searches

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/searches/trigrams"
	"github.com/umbra-vcs/umbra/sessions"
)

// indexDir is where a project's index is.
func indexDir(p *projects.Project) string { return filepath.Join(p.Dir, "search") }

// readerVersion is the version of what reads conversations: another one may find other
// texts in the same bytes, so what it has indexed counts for nothing.
var readerVersion = sync.OnceValue(func() string {
	version := "6"
	if info, ok := debug.ReadBuildInfo(); ok {
		version += " " + info.Main.Version
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" || s.Key == "vcs.modified" {
				version += " " + s.Value
			}
		}
	}
	return version
})

// indexKey names what is read of a conversation: the record that holds it never changes.
func indexKey(record gitstore.ID, t conversations.TurnRange) string {
	if t.Inherited {
		return fmt.Sprintf("%s from %d", record, t.Said)
	}
	return record.String()
}

// stretch is a part of a run's conversation that is read for itself, or need not be read.
type stretch struct {
	from, to *conversations.Border // nil: where the conversation begins and ends
	indexed  *trigrams.Indexed     // nil: it isn't
}

// A conversation's ends, where it is indexed.
const (
	beginning = math.MinInt64
	end       = math.MaxInt64
)

// stretchesOf cuts the conversation of a run into what is indexed and what lies between.
// Grown says that the agent's file holds more than the newest record.
func (sr *Searcher) stretchesOf(x *trigrams.Index, r *run, t conversations.TurnRange, grown bool) (all []stretch) {
	var known []trigrams.Indexed
	for i, s := range r.snapshots {
		newest := i == len(r.snapshots)-1
		if i > 0 && s.Record == r.snapshots[i-1].Record || !newest && !sr.isSharedByRecords(r) {
			continue
		}
		for _, p := range x.Pieces(indexKey(s.Record, t)) {
			if !p.Last || s.Record == r.newest().Record && !grown {
				known = append(known, p)
			}
		}
	}
	trigrams.Sort(known)
	at := trigrams.Piece{Ends: beginning}
	for i := range known {
		p := &known[i]
		if p.Begins < at.Ends {
			continue
		}
		if p.Begins > at.Ends {
			all = append(all, stretch{from: begins(at.Ends, at.Sought), to: begins(p.Begins, p.Read)})
		}
		all = append(all, stretch{begins(p.Begins, p.Read), begins(p.Ends, p.Sought), p})
		at = p.Piece
	}
	if at.Ends != end {
		all = append(all, stretch{from: begins(at.Ends, at.Sought)})
	}
	return all
}

// isSharedByRecords reports whether the records of a run hold one conversation that grows.
// Where it is put together from several files, those before the newest may be others.
func (sr *Searcher) isSharedByRecords(r *run) bool {
	_, segmented := sr.Adapter(r.meta.Agent).(sessions.Segmented)
	return !segmented
}

// begins is the border at a place, nil at an end of the conversation.
func begins(turn, read int64) *conversations.Border {
	if turn == beginning || turn == end {
		return nil
	}
	return &conversations.Border{Turn: turn, Read: read}
}

// isGrown reports whether a file may hold more than the run's newest record.
func (r *run) isGrown(file string) bool {
	if file == "" {
		return false
	}
	info, err := os.Stat(file)
	return err == nil && info.Size() > r.meta.Length
}

// grams are trigrams that a text must have in which the query is. Letters that are no ASCII
// are left out where capitals count: in the text they were folded.
func (q query) grams() []trigrams.Gram {
	var all []trigrams.Gram
	for _, word := range q.words {
		all = append(all, trigrams.Of(word)...)
	}
	for _, exact := range q.quoted {
		from := 0
		for i := 0; i <= len(exact); i++ {
			if i == len(exact) || exact[i] >= 0x80 {
				all = append(all, trigrams.Of(fold(exact[from:i]))...)
				from = i + 1
			}
		}
	}
	return all
}

// times are those of the oldest and the newest text of an indexed stretch; ok is false if they
// are not known.
func (s stretch) times() (oldest, newest time.Time, ok bool) {
	return time.Unix(0, s.indexed.Oldest), time.Unix(0, s.indexed.Newest), s.indexed.Newest != end && s.indexed.Oldest != beginning
}
