package tui

import (
	"slices"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/missions"
)

// chapterKey names a turn; what a fork inherited is the source's.
type chapterKey struct {
	mission string
	n       int
}

// rowKey names a row for as long as its snapshot exists.
type rowKey struct {
	turn bool
	id   string // of the snapshot, or the turn's mission
	n    int
}

// row is one line of the list: a turn's heading, or a snapshot below it.
type row struct {
	key   rowKey
	turn  chapterKey
	entry int    // the snapshot; of a heading the newest of its turn
	lanes string // the lines of restores that pass here
	chapter
}

// chapter is what a turn's heading says.
type chapter struct {
	prompt    string
	began     time.Time
	lasted    time.Duration
	lines     missions.LineCounts
	uncounted bool // lines of some of its snapshots
	snapshots int
	files     int
	folded    bool
	spent     string // what the conversation took, "" if that is not known
}

// buildRows lists turns with their snapshots, newest first. A turn that may go
// on beyond what is loaded has no beginning and no duration yet.
func buildRows(entries []missions.Entry, folded map[chapterKey]bool, f filter, whole bool) []row {
	rows := make([]row, 0, len(entries)+len(entries)/4)
	for from := 0; from < len(entries); {
		key := chapterKey{entries[from].Mission, entries[from].Turn}
		to := from + 1
		for to < len(entries) && (chapterKey{entries[to].Mission, entries[to].Turn}) == key {
			to++
		}
		c := readChapter(entries[from:to])
		if to == len(entries) && !whole {
			c.lasted, c.began = 0, time.Time{}
		}
		c.folded = folded[key]
		if f.path == "" {
			c.spent = spent(entries, from, to)
		} else {
			c.lasted = 0 // of a turn only what touched the path is there
		}
		head := len(rows)
		rows = append(rows, row{key: rowKey{true, key.mission, key.n}, turn: key, entry: from, chapter: c})
		shown := 0
		for i := from; i < to; i++ {
			if !f.keeps(entries[i], c.prompt) {
				continue
			}
			shown++
			if !c.folded {
				rows = append(rows, row{key: rowKey{id: entries[i].ID}, turn: key, entry: i})
			}
		}
		if shown == 0 {
			rows = rows[:head]
		}
		from = to
	}
	drawLanes(rows, entries)
	return rows
}

// isAfterTurn reports whether a snapshot shows what was changed when its turn was over, by its
// user or another program.
func isAfterTurn(e missions.Entry) bool {
	switch e.State {
	case missions.StateIdle, missions.StateError, missions.StateClosed:
		return !slices.ContainsFunc(e.Triggers, func(t string) bool {
			return t == string(missions.TriggerIdle) || t == string(missions.TriggerError) || t == string(missions.TriggerClose)
		})
	}
	return false
}

// readChapter sums up the snapshots of one turn, newest first: what changed from its prompt to
// its end, as umbra diff --turn shows it.
func readChapter(entries []missions.Entry) chapter {
	c := chapter{snapshots: len(entries)}
	var end time.Time
	ended := slices.IndexFunc(entries, func(e missions.Entry) bool { return strings.HasSuffix(e.Address, "@"+missions.Itoa(e.Turn)) })
	for i, e := range entries {
		asked := slices.Contains(e.Triggers, string(missions.TriggerPrompt))
		if end.IsZero() && (slices.Contains(e.Triggers, string(missions.TriggerIdle)) || slices.Contains(e.Triggers, string(missions.TriggerError))) {
			end = e.At
		}
		c.began = e.At
		if e.Prompt != "" {
			c.prompt = missions.PromptLine(e.Prompt)
		}
		if asked {
			if end.After(e.At) {
				c.lasted = end.Sub(e.At)
			}
			continue // what it changed was there before the turn
		}
		if e.Operation != "" || i < ended || isAfterTurn(e) {
			continue
		}
		c.files += e.Files.Added + e.Files.Modified + e.Files.Deleted
		if e.Lines != nil {
			c.lines.Added += e.Lines.Added
			c.lines.Deleted += e.Lines.Deleted
		} else {
			c.uncounted = true
		}
	}
	return c
}

// filter is what the list is narrowed to.
type filter struct {
	typed string
	words []string // each somewhere in the snapshot's text, in lower case
	state string
	path  string // asked of the Service
}

// parseFilter reads words, state:STATE and path:PATH.
func parseFilter(typed string) filter {
	f := filter{typed: strings.TrimSpace(typed)}
	for word := range strings.FieldsSeq(typed) {
		switch name, value, _ := strings.Cut(word, ":"); {
		case name == "state" && value != "":
			f.state = value
		case name == "path" && value != "":
			f.path = value
		default:
			f.words = append(f.words, strings.ToLower(word))
		}
	}
	return f
}

// check is an error where there is no such state.
func (f filter) check() error {
	if f.state == "" || slices.Contains(missions.StateNames[:], missions.StateName(f.state)) {
		return nil
	}
	return missions.Errorf(missions.KindUsage, "use initializing, running, waiting, idle, error or closed", "no state %q", f.state)
}

// keeps reports whether a snapshot is listed; prompt is its turn's.
func (f filter) keeps(e missions.Entry, prompt string) bool {
	if f.state != "" && string(e.State) != f.state {
		return false
	}
	if len(f.words) == 0 {
		return true
	}
	text := strings.ToLower(strings.Join(append([]string{missions.LabelOf(e).String(), prompt, e.Address, e.ID}, e.Pins...), "\n"))
	for _, w := range f.words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}
