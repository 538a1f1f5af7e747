package opencode

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsonlines"
)

// Import is OpenCode's import command for a session that was placed, and then for
// its subagents' sessions.
func (a Adapter) Import(env sessions.Environ, s sessions.Session, command []string) ([]sessions.Import, error) {
	_, err := os.Lstat(agentsDir(s.Path) + pendingExt)
	if err == nil {
		return []sessions.Import{a.importOf(env, s, command)}, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("import session: %w", err)
	}
	ids, err := agentsIn(agentsDir(s.Path), pendingExt)
	if err != nil {
		return nil, fmt.Errorf("import session: %w", err)
	}
	var list []sessions.Import
	for _, id := range ids {
		i := a.importOf(env, sessions.Session{ID: id, Path: agentFile(s.Path, id), Cwd: s.Cwd}, command)
		i.Beside = true
		list = append(list, i)
	}
	return list, nil
}

// importOf imports one session. OpenCode's own plugins and updates are kept out of
// it. The project is that of the directory it runs in. It has a state directory of
// its own: an import ends without giving up the lock under which OpenCode installs
// what plugins may want, and where that is not installed the next OpenCode would
// wait for a minute, with nothing to be seen, until it takes the lock for stale.
func (a Adapter) importOf(env sessions.Environ, s sessions.Session, command []string) sessions.Import {
	base := strings.TrimSuffix(s.Path, transcriptExt)
	program := "opencode"
	if a.Runs(command) {
		program = command[0]
	}
	set := map[string]string{
		"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1",
		"OPENCODE_DISABLE_DEFAULT_PLUGINS": "1", "npm_config_offline": "true", "OPENCODE_DISABLE_PROJECT_CONFIG": "1", "OPENCODE_PURE": "1",
	}
	for _, name := range []string{varData, varConfig, varDatabase} {
		if v := env.Vars[name]; v != "" {
			set[name] = v
		}
	}
	export, state := base+".import.json", base+".state"
	set[varState] = state
	return sessions.Import{
		File: sessions.File{Path: export, Mode: 0o600, Write: func(w io.Writer) error { return a.export(w, s.Path) }},
		Argv: []string{program, "import", export}, Dir: s.Cwd, Env: set, Scratch: state, Mark: base + pendingExt,
		Done: "Imported session: " + s.ID,
	}
}

// exported is a session as `opencode export` writes it.
type exported struct {
	Info     json.RawMessage   `json:"info"`
	Messages []exportedMessage `json:"messages"`
}

type exportedMessage struct {
	Info  json.RawMessage   `json:"info"`
	Parts []json.RawMessage `json:"parts"`
}

// export makes of a session's lines what OpenCode imports.
func (Adapter) export(w io.Writer, path string) error {
	f, _, err := sessions.OpenFile(path)
	if err != nil {
		return err
	}
	defer f.Close()
	g := gathered{values: map[string]json.RawMessage{}, owner: map[string]string{}}
	split := jsonlines.Splitter{Line: g.line}
	if err := split.Drain(f); err != nil {
		return err
	}
	out, err := g.export()
	if err != nil {
		return fmt.Errorf("session %s: %w", filepath.Base(path), err)
	}
	return json.NewEncoder(w).Encode(out)
}

// gathered is what the lines of a session say, the last of each id.
type gathered struct {
	info   json.RawMessage
	order  []string // ids of messages and parts, as they came
	values map[string]json.RawMessage
	owner  map[string]string // part → its message; "" for a message
}

func (g *gathered) line(b []byte, _ int64) error {
	l, ok := parseLine(b)
	if !ok {
		return nil
	}
	switch l.kind {
	case typeSession:
		g.info = slices.Clone(l.value)
	case typeMessage:
		g.put(parseMessage(l.value).id, "", l.value)
	case typePart:
		p := parsePart(l.value)
		g.put(p.id, p.message, l.value)
	case typeRemoved:
		delete(g.values, l.id)
	}
	return nil
}

func (g *gathered) put(id, owner string, value []byte) {
	if _, known := g.owner[id]; !known {
		g.order = append(g.order, id)
	}
	g.values[id], g.owner[id] = slices.Clone(value), owner
}

// export leaves out what a revert has hidden.
func (g *gathered) export() (exported, error) {
	if g.info == nil {
		return exported{}, fmt.Errorf("it does not say what session it is: %w", sessions.ErrNoSession)
	}
	info, reverted, err := plainInfo(g.info)
	if err != nil {
		return exported{}, err
	}
	out, index := exported{Info: info, Messages: []exportedMessage{}}, map[string]int{}
	for _, id := range g.order {
		value, there := g.values[id]
		switch owner := g.owner[id]; {
		case !there || reverted.hides(id, owner):
		case owner == "":
			index[id] = len(out.Messages)
			out.Messages = append(out.Messages, exportedMessage{Info: value, Parts: []json.RawMessage{}})
		default:
			if at, ok := index[owner]; ok {
				out.Messages[at].Parts = append(out.Messages[at].Parts, value)
			}
		}
	}
	return out, nil
}

// revert is where its user has taken a session back to: what was said from a message
// on, or of that message from a part on.
type revert struct {
	Message string `json:"messageID"`
	Part    string `json:"partID"`
}

// hides reports whether a message, or a part of the message owner, was taken back. The
// parts of a message that was go with it.
func (r revert) hides(id, owner string) bool {
	switch {
	case r.Message == "":
		return false
	case owner != "":
		return r.Part != "" && owner == r.Message && id >= r.Part
	case r.Part != "":
		return id > r.Message
	}
	return id >= r.Message
}

// plainInfo is a session's info without a revert, and this. When it changed last, which
// OpenCode wants to know, was not written.
func plainInfo(value json.RawMessage) (info json.RawMessage, reverted revert, err error) {
	var fields map[string]json.RawMessage
	var times struct {
		Created int64 `json:"created"`
		Updated int64 `json:"updated"`
	}
	if err := errors.Join(json.Unmarshal(value, &fields), json.Unmarshal(fields["time"], &times)); err != nil {
		return nil, revert{}, err
	}
	times.Updated = times.Created
	if fields["time"], err = json.Marshal(times); err != nil {
		return nil, revert{}, err
	}
	if to, ok := fields["revert"]; ok {
		if err := json.Unmarshal(to, &reverted); err != nil {
			return nil, revert{}, err
		}
		delete(fields, "revert")
	}
	info, err = json.Marshal(fields)
	return info, reverted, err
}
