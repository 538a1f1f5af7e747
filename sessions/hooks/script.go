package hooks

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"

	"github.com/umbra-vcs/umbra/sessions"
)

// Script is a program of Umbra's in JavaScript that an agent runs itself, where it has no
// hooks: a plugin, an extension. It is a file of settings too: what its user writes before
// and after it stays.
type Script struct {
	Text  []byte // but for the command that it calls, and its last line
	First string // how its first line begins
	Last  string // how its last line begins
}

// HookMark is where a Script's command goes, as a string of JavaScript.
const HookMark = `"@hook@"`

// A Script that brings Umbra's tools has this line, in which the command of their server takes
// the place of null.
const (
	serverMark = "const server = "
	noServer   = serverMark + "null\n"
)

// For is the script that calls a command, sealed.
func (s Script) For(command string) ([]byte, error) {
	word, err := json.Marshal(command)
	if err != nil {
		return nil, err
	}
	text := bytes.Replace(s.Text, []byte(HookMark), word, 1)
	return s.Seal(text), nil
}

// Seal adds the last line: by it every version of Umbra knows which text one has written,
// and that nobody has changed it.
func (s Script) Seal(text []byte) []byte { return append(text, s.seal(text)...) }

func (s Script) seal(text []byte) string {
	sum := sha256.Sum256(text)
	return s.Last + hex.EncodeToString(sum[:8]) + "\n"
}

var errChanged = errors.New("the script was changed there since Umbra wrote it: take its lines out by hand, and install it again")

// place is a file that holds the script, and perhaps lines of its user's about it.
type place struct{ before, ours, after []byte }

// find finds the script in a file. sessions.ErrForeignFile where there is none,
// errChanged where it is not as Umbra wrote it.
func (s Script) find(file []byte) (place, error) {
	start, ok := lineStart(file, s.First)
	if !ok {
		return place{}, sessions.ErrForeignFile
	}
	last, ok := lineStart(file[start:], s.Last)
	if !ok {
		return place{}, errChanged
	}
	last += start
	if !bytes.HasPrefix(file[last:], []byte(s.seal(file[start:last]))) {
		return place{}, errChanged
	}
	end := last + len(s.seal(nil))
	return place{before: file[:start], ours: file[start:end], after: file[end:]}, nil
}

// lineStart finds the first line that begins with words.
func lineStart(b []byte, words string) (at int, ok bool) {
	if bytes.HasPrefix(b, []byte(words)) {
		return 0, true
	}
	at = bytes.Index(b, []byte("\n"+words)) + 1
	return at, at > 0
}

// with is the file with another text in the script's place.
func (p place) with(text []byte) []byte { return slices.Concat(p.before, text, p.after) }

// Install is sessions.Installing's. What its user has added about the script stays.
func (s Script) Install(settings []byte, command string) ([]byte, error) {
	now, err := s.For(command)
	if err != nil || settings == nil {
		return now, err
	}
	p, err := s.find(settings)
	if err != nil {
		return nil, err
	}
	return p.with(now), nil
}

// Uninstall is sessions.Installing's: it leaves another's file, and what its user has
// added, alone.
func (s Script) Uninstall(settings []byte) (out []byte, remove bool, err error) {
	p, err := s.find(settings)
	switch {
	case errors.Is(err, sessions.ErrForeignFile):
		return settings, false, nil
	case err != nil:
		return nil, false, err
	}
	out = p.with(nil)
	return out, len(out) == 0, nil
}

// Commands is sessions.Installing's: the command that the script calls. A script that
// another version of Umbra wrote lacks what this one's hears.
func (s Script) Commands(settings []byte) (commands, missing []string, err error) {
	p, err := s.find(settings)
	switch {
	case errors.Is(err, sessions.ErrForeignFile):
		return nil, nil, nil
	case err != nil:
		return nil, nil, err
	}
	before, _, _ := bytes.Cut(s.Text, []byte(HookMark))
	variable := before[bytes.LastIndexByte(before, '\n')+1:]
	_, rest, ok := bytes.Cut(p.ours, variable)
	if !ok {
		return nil, []string{"all"}, nil
	}
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	var command string
	if err := json.Unmarshal(line, &command); err != nil {
		return nil, []string{"all"}, nil
	}
	if now, err := s.For(command); err != nil || !bytes.Equal(now, s.Serving(p.ours, nil)) {
		missing = []string{"those of this version of Umbra"}
	}
	return []string{command}, missing, nil
}

// InstallServer is sessions.Serving's.
func (s Script) InstallServer(settings []byte, command []string) (out []byte, theirs bool, err error) {
	p, err := s.find(settings)
	if err != nil {
		return nil, false, err
	}
	return p.with(s.Serving(p.ours, command)), false, nil
}

// UninstallServer is sessions.Serving's.
func (s Script) UninstallServer(settings []byte) ([]byte, error) {
	p, err := s.find(settings)
	if err != nil {
		return settings, nil // Uninstall says what is wrong with it
	}
	return p.with(s.Serving(p.ours, nil)), nil
}

// IsIn reports whether a file has this script, whatever tools it brings there.
func (s Script) IsIn(file, script []byte) bool {
	p, err := s.find(file)
	return err == nil && bytes.Equal(s.Serving(p.ours, nil), script)
}

// Serving is a script with another server of tools, nil for none. One of a version
// that brought no tools stays as it is.
func (s Script) Serving(script []byte, command []string) []byte {
	text := script[:len(script)-len(s.seal(nil))]
	at, ok := lineStart(text, serverMark)
	if !ok {
		return script
	}
	line := noServer
	if len(command) > 0 {
		words, _ := json.Marshal(command) // strings always marshal
		line = serverMark + string(words) + "\n"
	}
	end := at + bytes.IndexByte(text[at:], '\n') + 1
	return s.Seal(slices.Concat(text[:at], []byte(line), text[end:]))
}
