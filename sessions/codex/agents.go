package codex

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// placeAgents begins the portable name of a side file that is the rollout of a
// session's subagent.
const placeAgents = "agents/"

// mostOpening is how much of a rollout is read for whose it is, which stands
// before the instructions in its first line.
const mostOpening = 4 << 10

// opening is the beginning of a rollout's first line, and whether all of it is there
// that is read.
func opening(file string) (line []byte, whole bool, err error) {
	f, _, err := sessions.OpenFile(file)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, mostOpening))
	line, whole = first(b)
	return line, whole, err
}

// rootOf is the session whose subagent's rollout begins with these bytes, "" if
// it is no subagent's. The line goes on beyond them: its first members are read.
func rootOf(first []byte) string {
	_, payload, _ := bytes.Cut(first, []byte(`"payload":`))
	root, sub := "", false
	c := jsontext.Walk(payload)
	for key, value := range c.Members() {
		switch string(key) {
		case "session_id":
			root = jsontext.Text(value)
		case "source":
			sub = len(jsontext.Lookup(value, "subagent")) > 0
		}
	}
	if !sub || !sessions.IsUUID(root) {
		return ""
	}
	return root
}

// team marks in its first line a session that can have subagents.
var team = []byte(`"multi_agent_version":`)

// agents are the rollouts of a session's subagents, and of theirs, that are in
// the store now. They began after it did, and no line of it tells where they
// are: the rollouts since are looked through, but only for a session whose first
// line says that it can have any.
func (a Adapter) agents(env sessions.Environ, s sessions.Session) ([]string, error) {
	began, told := sessions.TimeOf(s.ID)
	able, err := hasTeam(s.Path)
	if err != nil || !told || !able {
		return nil, err
	}
	var files []string
	for _, dir := range storeOf(env).since(began) {
		found, err := a.agentsIn(dir, s.ID)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	return newestOnly(files), nil
}

// newestOnly leaves out the rollouts of sessions that have a newer one.
func newestOnly(files []string) []string {
	newest := map[string]string{}
	for _, file := range files {
		name := filepath.Base(file)
		if known := newest[idOf(name)]; known == "" || later(name, known) {
			newest[idOf(name)] = name
		}
	}
	return slices.DeleteFunc(files, func(file string) bool { return newest[idOf(filepath.Base(file))] != filepath.Base(file) })
}

// agentsIn are the rollouts of a session's subagents in a directory.
func (a Adapter) agentsIn(dir, root string) ([]string, error) {
	var files []string
	for _, name := range rollouts(dir) {
		if idOf(name) <= root { // ids begin with the time
			continue
		}
		file := filepath.Join(dir, name)
		leader, err := a.openings.root(file)
		if err != nil && !errors.Is(err, sessions.ErrNoSession) {
			return nil, err
		}
		if leader == root {
			files = append(files, file)
		}
	}
	return files, nil
}

// hasTeam reports whether a session can have subagents.
func hasTeam(file string) (bool, error) {
	f, _, err := sessions.OpenFile(file)
	if errors.Is(err, sessions.ErrNoSession) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	first, err := bufio.NewReader(f).ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return bytes.Contains(first, team), nil
}

// agentSides are the side files of a session's subagents.
func (a Adapter) agentSides(env sessions.Environ, s sessions.Session) ([]sessions.Side, error) {
	files, err := a.agents(env, s)
	if err != nil {
		return nil, err
	}
	var sides []sessions.Side
	for _, file := range files {
		f, info, err := sessions.OpenFile(file)
		if errors.Is(err, sessions.ErrNoSession) {
			continue
		}
		if err != nil {
			return nil, err
		}
		f.Close()
		sides = append(sides, sessions.Side{Name: placeAgents + filepath.Base(file), Path: file, Size: info.Size(), Mode: info.Mode().Perm()})
	}
	return sides, nil
}

// placeAgent is a subagent's rollout as one of the session's copy: under an id of
// its own, in the archive, from where Import has Codex take it.
func (a Adapter) placeAgent(env sessions.Environ, name string, open func(string) (io.ReadCloser, error), to sessions.Rewrite, all []string) (sessions.File, bool) {
	base := path.Base(name)
	moved := shiftOf(to).id(idOf(base))
	if storeOf(env).find(moved) != "" {
		return sessions.File{}, false
	}
	target := filepath.Join(a.Root(env), archive, nameOf(moved))
	return sessions.File{Path: target, Mode: sideMode, Write: func(w io.Writer) error {
		r, err := open(name)
		if err != nil {
			return fmt.Errorf("read side file %s: %w", name, err)
		}
		defer r.Close()
		end := &ending{w: w}
		if err := rewriteLines(end, r, to, all); err != nil {
			return fmt.Errorf("place side file %s: %w", name, err)
		}
		return end.close()
	}}, true
}

// shift says by how much the digits and the time of a subagent's id move on in the
// copy of its session: by what differs between the sessions' ids, so that the way
// back is the same, and the copy's subagents too have begun after it.
type shift struct {
	digits [sha256.Size]byte
	later  time.Duration
}

func shiftOf(to sessions.Rewrite) shift {
	s := shift{}
	from, into := sha256.Sum256([]byte(to.OldID)), sha256.Sum256([]byte(to.NewID))
	for i := range s.digits {
		s.digits[i] = (into[i] - from[i]) & 15
	}
	began, told := sessions.TimeOf(to.OldID)
	again, toldToo := sessions.TimeOf(to.NewID)
	if told && toldToo {
		s.later = again.Sub(began)
	}
	return s
}

// Of an id its version, at 14, and its variant stay.
const (
	randomAt  = 15
	variantAt = 19
)

// id is the id of a subagent in the copy.
func (s shift) id(old string) string {
	moved := []byte(strings.ToLower(old))
	for i := randomAt; i < len(moved); i++ {
		if digit := strings.IndexByte(hexDigits, moved[i]); digit >= 0 && i != variantAt {
			moved[i] = hexDigits[(digit+int(s.digits[i-randomAt]))&15]
		}
	}
	if at, told := sessions.TimeOf(old); told && at.Add(s.later).UnixMilli() >= 0 {
		stamp := sessions.TimeStamp(at.Add(s.later))
		copy(moved, stamp)
	}
	return string(moved)
}

const hexDigits = "0123456789abcdef"

// Import has Codex take the rollout of a subagent, which it finds by its database
// alone: what it takes out of its archive enters there. Only subagents of this
// session are taken out, one after the other, and of one that is in the archive
// itself none.
func (a Adapter) Import(env sessions.Environ, s sessions.Session, command []string) ([]sessions.Import, error) {
	dir := storeOf(env).archive()
	able, err := hasTeam(s.Path)
	if err != nil || !able || filepath.Dir(s.Path) == dir {
		return nil, err
	}
	files, err := a.agentsIn(dir, s.ID)
	if err != nil || len(files) == 0 {
		return nil, err
	}
	program := "codex"
	if a.Runs(command) && sessions.ProgramAt(command, "codex", script) == 0 {
		program = command[0]
	}
	id, set := idOf(filepath.Base(files[0])), map[string]string{}
	if home := env.Vars[varHome]; home != "" {
		set[varHome] = home
	}
	return []sessions.Import{{
		Argv: []string{program, "unarchive", id}, Dir: a.Root(env), Env: set, Done: "Unarchived session " + id,
		Beside: true,
	}}, nil
}
