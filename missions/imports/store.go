package imports

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// errNothingSaid is the error of a session without a prompt.
var errNothingSaid = errors.New("nothing was said in it")

// listedPrompt is a prompt in one line and cut.
func listedPrompt(prompt string) string {
	const most = 200
	return missions.TruncateText(strings.Join(strings.Fields(prompt), " "), most)
}

// sessionKey names a session among those of all agents.
type sessionKey struct{ agent, id string }

// found is a session in an agent's store.
type found struct {
	sessions.Session
	adapter sessions.Adapter
}

func (f found) key() sessionKey { return sessionKey{f.adapter.Name(), f.ID} }

func (f found) describe() missions.ImportedSession {
	return missions.ImportedSession{Agent: f.adapter.Name(), Session: f.ID, File: f.Path, Directory: f.Cwd, At: f.Modified, Bytes: f.Size}
}

// findSessions lists the sessions in the stores, in the order in which they were written
// last. Of several files of one session the newest counts. Until leaves out what was written
// last after it, zero nothing.
func (im *Importer) findSessions(r missions.ImportRequest, until time.Time) ([]found, error) {
	chosen, err := im.listing(r.Agent)
	if err != nil {
		return nil, err
	}
	env, newest := projects.CallerEnv(r.Caller), map[sessionKey]found{}
	for _, a := range chosen {
		for path := range a.(sessions.Listing).Stored(env) {
			s, err := a.Open(path)
			f := found{s, a}
			if err != nil {
				if !errors.Is(err, sessions.ErrNoSession) {
					im.Logger.Info("open a session of an agent's store", "file", path, "error", err)
				}
				continue
			}
			if before, twice := newest[f.key()]; !twice || f.Modified.After(before.Modified) {
				newest[f.key()] = f
			}
		}
	}
	list := slices.Collect(maps.Values(newest))
	if r.Since != "" {
		since, err := missions.ParseWhen(r.Since, im.Now())
		if err != nil {
			return nil, err
		}
		list = slices.DeleteFunc(list, func(f found) bool { return f.Modified.Before(since) })
	}
	if !until.IsZero() {
		list = slices.DeleteFunc(list, func(f found) bool { return f.Modified.After(until) })
	}
	slices.SortFunc(list, func(a, b found) int { return cmp.Or(a.Modified.Compare(b.Modified), cmp.Compare(a.Path, b.Path)) })
	return list, nil
}

// listing are the adapters that find sessions by themselves: all, or the one with a name.
func (im *Importer) listing(name string) (list []sessions.Adapter, err error) {
	var names []string
	for _, a := range im.Adapters {
		if _, ok := a.(sessions.Listing); !ok {
			continue
		}
		names = append(names, a.Name())
		if name == "" || name == a.Name() {
			list = append(list, a)
		}
	}
	if len(list) == 0 && name != "" {
		return nil, missions.Errorf(missions.KindUsage, "one of: "+strings.Join(names, ", "), "Umbra does not know where %q keeps its sessions", name)
	}
	return list, nil
}

// firstPrompt is the first prompt of a session; errNothingSaid if there is none. It reads
// no further.
func (f found) firstPrompt() (string, error) {
	file, _, err := sessions.OpenFile(f.Path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	read, buf := f.adapter.Follow(), make([]byte, 64<<10)
	for {
		n, err := file.Read(buf)
		read.Feed(buf[:n])
		for _, turn := range read.Conversation().Turns {
			if turn.Prompt != "" {
				return turn.Prompt, nil
			}
		}
		if errors.Is(err, io.EOF) {
			if len(read.Conversation().Turns) > 0 {
				return "", nil // a picture, or a prompt that Umbra can't read
			}
			return "", errNothingSaid
		}
		if err != nil {
			return "", fmt.Errorf("read session: %w", err)
		}
	}
}

// recordedLength is how much of the file of a mission's session is recorded, -1 if that
// can't be told.
func (im *Importer) recordedLength(m *projects.Mission) int64 {
	meta, err := records.ReadSessionMeta(m.Project.Store, m.Record)
	if err != nil || meta.SessionID != m.Stored.Session {
		return -1
	}
	return meta.Length
}
