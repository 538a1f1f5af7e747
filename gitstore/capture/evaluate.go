package capture

import (
	"bytes"
	"io"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

// verdict is what becomes of a name in a directory.
type verdict uint8

const (
	verdictNone  verdict = iota // not there, or not to be captured
	verdictKnown                // the entry is as returned
	verdictRead                 // its content must be read
)

// evaluate judges one name of a directory. Hint is its kind, if the listing
// said so; old what it was. A directory's entry is returned without its node.
func (w *walker) evaluate(s *scene, name string, hint beneath.Kind, old *entry, dirty *dirtyTree) (entry, verdict, error) {
	if name == gitName {
		return entry{}, verdictNone, nil
	}
	if _, _, scratch := beneath.ParseScratch(name); scratch {
		return entry{}, verdictNone, nil
	}
	known := s.stable && old != nil && !dirty.named() && old.flags&flagIgnored == 0
	var standing standing
	if hint != beneath.Unknown && !known {
		if standing = w.standing(s, name, hint == beneath.Directory); standing.left {
			return entry{}, verdictNone, nil
		}
	}
	st, err := s.dir.Lstat(name)
	if err != nil {
		return w.unseen(name, err)
	}
	actual := st.Kind()
	switch {
	case known && old.kind.is(actual):
		standing.flags = old.flags & (flagTracked | flagHeld | flagIgnored)
		standing.stays = old.flags&(flagTracked|flagHeld) != 0
	case known || hint == beneath.Unknown || (hint == beneath.Directory) != (actual == beneath.Directory):
		if standing = w.standing(s, name, actual == beneath.Directory); standing.left {
			return entry{}, verdictNone, nil
		}
	}
	if beneath.IsGitDisguise(name) {
		return skippedEntryOf(name, documents.ReasonReserved, nil), verdictKnown, nil
	}
	if !standing.named && w.withholds(s, name, old) {
		return withheldEntryOf(name, &st), verdictKnown, nil
	}
	return w.classify(s, name, &st, standing, known, old, dirty)
}

// unseen is the verdict on a name that lstat failed for.
func (w *walker) unseen(name string, err error) (entry, verdict, error) {
	if vanished(err) {
		return entry{}, verdictNone, nil
	}
	if reason, ok := skipReasonOf(err); ok {
		return skippedEntryOf(name, reason, nil), verdictKnown, nil
	}
	return entry{}, verdictNone, err
}

func skippedEntryOf(name string, reason documents.Reason, st *beneath.Stat) entry {
	e := entry{name: name, kind: kindSkipped, reason: reasonIndex(reason)}
	if st != nil {
		e.stat = fingerprintOf(st)
	}
	return e
}

func withheldEntryOf(name string, st *beneath.Stat) entry {
	if st.Kind() != beneath.File {
		st = nil // the times of a directory change with what is in it
	}
	return skippedEntryOf(name, documents.ReasonWithheld, st)
}

// classify is evaluate for a name that is to be captured, with its stat data.
func (w *walker) classify(s *scene, name string, st *beneath.Stat, standing standing, known bool, old *entry, dirty *dirtyTree) (entry, verdict, error) {
	e := entry{name: name, stat: fingerprintOf(st), flags: standing.flags}
	switch st.Kind() {
	case beneath.Directory:
		// Size and times of a directory change with ignored files too.
		e.stat.size, e.stat.mtime, e.stat.ctime = 0, 0, 0
		e.kind = kindDirectory
		return e, verdictKnown, nil
	case beneath.Symlink:
		e.kind = kindSymlink
	case beneath.File:
		e.kind = kindFile
		if st.Executable() {
			e.kind = kindExecutable
		}
		if st.Links > 1 {
			e.flags |= flagLinked
			if old == nil || old.flags&flagLinked == 0 || old.stat.inode != st.Inode {
				w.links.note(st.Inode)
			}
		}
		captured := known && (old.kind == kindFile || old.kind == kindExecutable)
		if !captured && w.rules.secrets.Match(s.at.path, name) && !standing.stays {
			flag := w.admitsSecret(s, name)
			if flag == 0 {
				return skippedEntryOf(name, documents.ReasonSecret, st), verdictKnown, nil
			}
			e.flags |= flag
		}
		if st.Size > w.rules.settings.SizeCap {
			return skippedEntryOf(name, documents.ReasonSize, st), verdictKnown, nil
		}
		if reason := w.narrowed(s, &e, standing, old); reason != "" {
			return skippedEntryOf(name, reason, st), verdictKnown, nil
		}
	default:
		return skippedEntryOf(name, documents.ReasonSpecial, nil), verdictKnown, nil
	}
	return w.reuse(s, e, st, old, dirty)
}

// admitsSecret is why a file is captured though its name is a secret's, as a flag: the
// user's repository tracks it, the snapshot before holds it, or it is none. It is 0 if
// the file is left out.
func (w *walker) admitsSecret(s *scene, name string) flags {
	path := treepath.Join(s.at.path, name)
	switch {
	case s.repo.has(path):
		return flagTracked
	case !w.isSecret(s, name):
		return flagTracked
	case w.keeps(path):
		return flagHeld
	}
	return 0
}

// narrowed is why a file is left out that no snapshot holds yet, "" if it is not;
// see Settings.NewSizeCap.
func (w *walker) narrowed(s *scene, e *entry, standing standing, old *entry) documents.Reason {
	secret, large := w.rules.fresh.Match(s.at.path, e.name), e.stat.size > w.rules.settings.NewSizeCap
	if !secret && !large || old != nil && (old.kind == kindFile || old.kind == kindExecutable) {
		return ""
	}
	path := treepath.Join(s.at.path, e.name)
	if secret && (standing.stays || s.repo.has(path)) {
		secret = false
		e.flags |= flagTracked
	}
	switch {
	case !secret && !large, w.holds(path):
		return ""
	case secret:
		return documents.ReasonSecret
	}
	return documents.ReasonSize
}

// reuse takes over the id of an entry whose stat data prove its content.
func (w *walker) reuse(s *scene, e entry, st *beneath.Stat, old *entry, dirty *dirtyTree) (entry, verdict, error) {
	if old == nil || old.kind != e.kind && (old.kind == kindSymlink || e.kind == kindSymlink) {
		return e, verdictRead, nil
	}
	e.id = old.id
	same := old.flags&flagTrusted != 0 && old.stat == e.stat && old.kind == e.kind && st.Device == s.device
	if same && dirty.named() {
		e.flags |= flagRecheck
		return e, verdictRead, nil
	}
	if !same {
		return e, verdictRead, nil
	}
	e.flags |= flagTrusted | old.flags&(flagSeeded|flagChanging)
	if w.verify != nil {
		ok, err := w.verify(e.id)
		if err != nil {
			return e, verdictNone, err
		}
		if !ok {
			e.id = gitstore.ID{}
			return e, verdictRead, nil
		}
	}
	return e, verdictKnown, nil
}

// standing is what the rules say of a name.
type standing struct {
	left  bool // out of the snapshot
	stays bool // in the snapshot though a rule leaves it out
	named bool // a rule says that it is not left out
	flags flags
}

func (w *walker) standing(s *scene, name string, isDir bool) standing {
	v := s.matcher.Match(name, isDir)
	if !v.Ignored {
		return standing{named: v.Ruled()}
	}
	path := treepath.Join(s.at.path, name)
	switch {
	case !isDir && documents.Overridable(v) && s.repo.has(path):
		return standing{stays: true, flags: flagTracked}
	case !isDir && documents.Overridable(v) && w.completes(s, name):
		return standing{stays: true, flags: flagTracked}
	case !isDir && w.keeps(path):
		return standing{stays: true, flags: flagHeld}
	case isDir && (documents.Overridable(v) && s.repo.hasBelow(path) || s.matcher.MayContainIncluded(name) || w.keepsBelow(path)):
		return standing{flags: flagIgnored}
	}
	return standing{left: true}
}

// isSecret tells whether a regular file of a directory is a secret. One that has the
// name of a key, and is a ZIP archive (APPNOTE.TXT, 4.3.7), is a presentation.
func (w *walker) isSecret(s *scene, name string) bool {
	return !w.rules.secrets.MatchesKey(s.at.path, name) || !begins(s.dir, name, "PK\x03\x04")
}

// begins tells whether a file of a directory begins with a text; not if it can't be read.
func begins(dir *beneath.Dir, name, text string) bool {
	f, _, err := dir.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(text))
	_, err = io.ReadFull(f, head)
	return err == nil && bytes.Equal(head, []byte(text))
}
