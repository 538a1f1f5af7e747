package codex

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// Where its user goes back to an earlier prompt, Codex begins another rollout of the
// same session. Its first line names the file that holds what was said before, by
// the id at the end of that file's name, and how many bytes of it count; before the
// first prompt there is nothing, and the line names none.

var _ sessions.Segmented = Adapter{}

// Current implements sessions.Segmented. Codex goes on in the file that it began last.
func (a Adapter) Current(env sessions.Environ, file string) string {
	name := filepath.Base(file)
	began, told := sessions.TimeOf(segmentOf(name))
	if !told {
		began, _ = sessions.TimeOf(idOf(name))
	}
	newest := storeOf(env).newestSince(idOf(name), began)
	switch is := filepath.Base(newest); {
	case newest == "":
	case segmentOf(is) != segmentOf(name) && later(is, name):
		return newest
	case segmentOf(is) == segmentOf(name):
		if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
			return newest
		}
	}
	return file // in the words in which it was told
}

// Segment implements sessions.Segmented.
func (Adapter) Segment(side string) string {
	if rel, ok := strings.CutPrefix(side, placeSegments); ok {
		return segmentOf(path.Base(rel))
	}
	return ""
}

// Base implements sessions.Segmented.
func (Adapter) Base(first []byte) (segment string, length int64) {
	l, ok := parseLine(first)
	if !ok || l.classify() != classMeta {
		return "", 0
	}
	length, err := strconv.ParseInt(string(jsontext.Lookup(l.get("history_base"), "end_byte_offset")), 10, 64)
	if err != nil || length < 0 {
		return "", 0
	}
	return ancestor(l), length
}
