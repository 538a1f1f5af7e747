package updates

import (
	"bufio"
	"bytes"
	"io"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// mark begins the line by which a conversation shows that its agent was given an update. An
// update's text can't forge it: each line of the text begins otherwise.
const mark = "[umbra-update "

// idLength is that of a UUID, as which ids are written.
const idLength = 36

func markOf(id string) string { return mark + id + "]" }

// shownIn are the ids of the updates that a mission's conversation shows. Only what can be
// told of these updates is read.
func shownIn(m *projects.Mission, list []document) map[string]bool {
	if len(list) == 0 {
		return nil
	}
	from := list[0].startIn(m.Stored.Session)
	for _, d := range list[1:] {
		from = min(from, d.startIn(m.Stored.Session))
	}
	return shownInFile(m.Binding.SessionPath, from)
}

// startIn is where in a session's file the update can be shown.
func (d *document) startIn(session string) int64 {
	if d.LookFrom.Session != session {
		return 0
	}
	return d.LookFrom.Offset
}

// shownInFile are the ids of the updates that a session's file shows from an offset on. The
// file is read as it comes: conversations grow large.
func shownInFile(path string, from int64) map[string]bool {
	shown := map[string]bool{}
	f, info, err := disk.OpenRegular(path)
	if err != nil {
		return shown
	}
	defer f.Close()
	if info.Size() < from {
		from = 0 // it was written anew
	}
	needle := []byte(`\n` + mark) // agents write JSON
	r := bufio.NewReaderSize(io.NewSectionReader(f, from, info.Size()-from), 1<<20)
	keep := len(needle) + idLength + 1
	for {
		p, err := r.Peek(r.Size())
		for at := 0; ; {
			i := bytes.Index(p[at:], needle)
			if i < 0 || at+i+keep > len(p) {
				break
			}
			at += i + len(needle)
			if id := string(p[at : at+idLength]); p[at+idLength] == ']' && missions.IsID(id) {
				shown[id] = true
			}
		}
		if err != nil {
			return shown
		}
		_, _ = r.Discard(len(p) - keep)
	}
}

// shownInText are the ids of the updates that a text, not as JSON, carries.
func shownInText(text string) map[string]bool {
	shown := map[string]bool{}
	for _, part := range strings.Split(text, "\n"+mark)[1:] {
		if id, _, ok := strings.Cut(part, "]"); ok && missions.IsID(id) {
			shown[id] = true
		}
	}
	return shown
}
