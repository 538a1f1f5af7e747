package codex

import (
	"bufio"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

const (
	rolloutPrefix = "rollout-"
	rolloutExt    = ".jsonl"
	stampLayout   = "2006-01-02T15-04-05"
	// archive holds, without directories of days, what its user has put away.
	archive = "archived_sessions"
)

// Root is $CODEX_HOME, else ~/.codex.
func (Adapter) Root(env sessions.Environ) string {
	if dir := env.Vars[varHome]; dir != "" {
		return filepath.Clean(dir)
	}
	return filepath.Join(env.Home, ".codex")
}

// store is Codex's directory, which holds its sessions.
type store string

func storeOf(env sessions.Environ) store { return store(Adapter{}.Root(env)) }

// archive is the directory of what was put away.
func (s store) archive() string { return filepath.Join(string(s), archive) }

// NewID is the random UUID as one of version 7, as all of Codex's own are: it
// begins with the time, and so tells the name of the session's file.
func (Adapter) NewID(random string, at time.Time) string { return sessions.NewTimedID(random, at) }

// Path is the rollout of a session, wherever in the store it is. A new one goes
// to the day and second that its id tells, in UTC where Codex takes the local
// time, which nobody could tell again: Codex finds a file by the id in its name.
func (a Adapter) Path(env sessions.Environ, _, id string) string {
	if found := storeOf(env).find(id); found != "" {
		return found
	}
	at, _ := sessions.TimeOf(id)
	return filepath.Join(storeOf(env).day(at), nameOf(id))
}

// nameOf is how a rollout that Umbra writes is called.
func nameOf(id string) string {
	at, _ := sessions.TimeOf(id)
	return rolloutPrefix + at.Format(stampLayout) + "-" + id + rolloutExt
}

func (s store) day(at time.Time) string {
	return filepath.Join(string(s), "sessions", at.Format("2006"), at.Format("01"), at.Format("02"))
}

// find is the rollout that a session goes on in, "" if there is none: of several,
// since its user has gone back in it, the newest.
func (s store) find(id string) string {
	if !sessions.IsUUID(id) {
		return ""
	}
	began, _ := sessions.TimeOf(id) // of an id that tells nothing all days are looked through
	return s.newestSince(id, began)
}

// newestSince is the newest rollout of a session among those of a day and later, and
// those that were put away.
func (s store) newestSince(id string, began time.Time) string {
	newest := ""
	for _, dir := range s.since(began) {
		for _, name := range rollouts(dir) {
			if idOf(name) == id && (newest == "" || later(name, filepath.Base(newest))) {
				newest = filepath.Join(dir, name)
			}
		}
	}
	return newest
}

// since are the directories of the rollouts of a day and later, and of what was put away.
func (s store) since(began time.Time) []string {
	oldest := s.day(began.AddDate(0, 0, -1)) // in whatever time zone
	days := slices.DeleteFunc(s.days(), func(dir string) bool { return dir < oldest })
	return append(days, s.archive())
}

// Stored are the rollouts that sessions go on in, each session's newest.
func (a Adapter) Stored(env sessions.Environ) iter.Seq[string] {
	newest := map[string]string{}
	for _, dir := range append(storeOf(env).days(), storeOf(env).archive()) {
		for _, name := range rollouts(dir) {
			id := idOf(name)
			if newest[id] == "" || later(name, filepath.Base(newest[id])) {
				newest[id] = filepath.Join(dir, name)
			}
		}
	}
	return func(yield func(string) bool) {
		for _, file := range newest {
			line, _, err := opening(file)
			if err == nil && rootOf(line) == "" && !yield(file) {
				return
			}
		}
	}
}

// later reports whether a rollout was begun after another one of its session: by the
// ids of the files, since their names tell seconds of the local time, and their own
// times change when they are copied.
func later(name, than string) bool {
	at, told := sessions.TimeOf(segmentOf(name))
	before, toldToo := sessions.TimeOf(segmentOf(than))
	if told && toldToo && !at.Equal(before) {
		return at.After(before)
	}
	return name > than
}

// segment is the rollout with that id of its own, "" if there is none. The id tells
// the day but for the time zone.
func (s store) segment(id string) string {
	if !sessions.IsUUID(id) {
		return ""
	}
	var days []string
	if at, told := sessions.TimeOf(id); told {
		for _, shift := range []int{0, -1, 1} {
			days = append(days, s.day(at.AddDate(0, 0, shift)))
		}
	} else {
		days = s.days()
	}
	for _, dir := range append(days, s.archive()) {
		for _, name := range rollouts(dir) {
			if segmentOf(name) == id {
				return filepath.Join(dir, name)
			}
		}
	}
	return ""
}

// days are the directories that rollouts are in, the newest first.
func (s store) days() []string {
	dirs := []string{filepath.Join(string(s), "sessions")}
	for _, digits := range []int{4, 2, 2} {
		var below []string
		for _, dir := range dirs {
			entries, _ := os.ReadDir(dir) // what can't be read holds no session
			for _, e := range slices.Backward(entries) {
				if _, err := strconv.Atoi(e.Name()); err == nil && len(e.Name()) == digits && e.IsDir() {
					below = append(below, filepath.Join(dir, e.Name()))
				}
			}
		}
		dirs = below
	}
	return dirs
}

// rollouts are the names of a directory's rollouts.
func rollouts(dir string) []string {
	entries, _ := os.ReadDir(dir)
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && idOf(e.Name()) != "" {
			names = append(names, e.Name())
		}
	}
	return names
}

// idOf is the session's id in a rollout's name, "" if it is no rollout: what stands
// before the file's own, if that has one (rollout-TIME-SESSION_SEGMENT.jsonl).
func idOf(name string) string {
	id := segmentOf(name)
	if before, ok := strings.CutSuffix(name, "_"+id+rolloutExt); ok && id != "" && len(before) >= len(rolloutPrefix)+uuidLen {
		if of := before[len(before)-uuidLen:]; sessions.IsUUID(of) {
			return of
		}
	}
	return id
}

// segmentOf is the id of a rollout's file, which is the session's where its user has
// not gone back in it; "" if it is no rollout.
func segmentOf(name string) string {
	inner, ok := strings.CutSuffix(name, rolloutExt)
	if !ok || !strings.HasPrefix(inner, rolloutPrefix) || len(inner) < len(rolloutPrefix)+uuidLen {
		return ""
	}
	if id := inner[len(inner)-uuidLen:]; sessions.IsUUID(id) {
		return id
	}
	return ""
}

// Open reads a session's identity. Its id is the one in the file's name, which
// Codex looks for; its cwd is where it began. ErrNoSession also if the file's
// name is no rollout's.
func (Adapter) Open(path string) (sessions.Session, error) {
	id := idOf(filepath.Base(path))
	if id == "" {
		return sessions.Session{}, fmt.Errorf("open session %s: %w", path, sessions.ErrNoSession)
	}
	f, info, err := sessions.OpenFile(path)
	if err != nil {
		return sessions.Session{}, err
	}
	defer f.Close()
	s := sessions.Session{ID: id, Path: path, Modified: info.ModTime(), Size: info.Size()}
	first, err := bufio.NewReader(f).ReadBytes('\n')
	if err == nil {
		l, _ := parseLine(first)
		s.Cwd = jsontext.Text(jsontext.Lookup(l.payload, "cwd"))
	}
	return s, nil
}
