package gitstore

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Snapshot is a snapshot commit, parsed. Its tree is the workspace.
type Snapshot struct {
	// ID, Tree, Parents, Author and At are the commit's. At is the committer
	// time, which never goes back along first parents.
	ID      ID
	Tree    ID
	Parents []ID
	Author  Signature
	At      time.Time

	// Lost is the snapshot before, if that is lost: Parents is then what is left of
	// those before it. PrunedAt is when it was pruned, zero if it was lost otherwise.
	Lost     ID
	PrunedAt time.Time

	// Subject is the first line, for people: at most 100 characters. Nothing is read
	// from it.
	Subject string

	// State is the mission's, and Message says what happened, in at most 200 characters.
	State   string
	Message string

	Trailers
}

// Parent is the snapshot before, or the zero ID.
func (s *Snapshot) Parent() ID {
	if len(s.Parents) == 0 {
		return ID{}
	}
	return s.Parents[0]
}

// Trailers are what the body of a snapshot commit says. Absent ones are zero.
type Trailers struct {
	Mission   string
	Triggers  []string
	Turn      int
	Prompt    string // what began the turn: on one line, at most 100 characters
	Record    ID
	Session   string
	GitHead   string
	GitBranch string
	// Skipped counts the paths that would be captured but were left out.
	Skipped int
	// Late: taken after the moment it stands for; Partial: something was left
	// out that should be there.
	Late, Partial bool
	RestoredFrom  ID
	ForkedFrom    ID
	PromotedFrom  ID
}

// The lengths of a snapshot's texts, in characters.
const (
	MaxSubject = 100
	maxPrompt  = 100
	maxMessage = 200
)

const trailerPrefix = "Umbra-"

// FormatSnapshot gives the commit to write for a snapshot: Subject, State, Message,
// Trailers, Tree, Parents, Author and At are used. A snapshot without a Subject has its
// Message there. The subject is one line without control characters; trailer values are
// cleaned likewise, so that no value can forge another. Texts that are too long are cut.
// Parse(Format(s)) gives s with these changes.
func FormatSnapshot(s *Snapshot) *Commit {
	var b strings.Builder
	b.WriteString(cutLine(cmp.Or(s.Subject, s.Message, s.State), MaxSubject))
	b.WriteString("\n\n")
	for _, t := range s.Trailers.list(s.State, s.Message) {
		if v := oneLine(t.value); v != "" {
			fmt.Fprintf(&b, "%s%s: %s\n", trailerPrefix, t.key, v)
		}
	}
	committer := s.Author
	committer.When = s.At
	return &Commit{Tree: s.Tree, Parents: s.Parents, Author: s.Author, Committer: committer, Message: b.String()}
}

type trailer struct{ key, value string }

func (t *Trailers) list(state, message string) []trailer {
	return []trailer{
		{"Mission", t.Mission},
		{"State", state},
		{"Message", cutLine(message, maxMessage)},
		{"Trigger", strings.Join(t.Triggers, " ")},
		{"Turn", strconv.Itoa(t.Turn)},
		{"Prompt", cutLine(t.Prompt, maxPrompt)},
		{"Record", idText(t.Record)},
		{"Session", t.Session},
		{"Git-Head", t.GitHead},
		{"Git-Branch", t.GitBranch},
		{"Skipped", strconv.Itoa(t.Skipped)},
		{"Late", boolText(t.Late)},
		{"Partial", boolText(t.Partial)},
		{"Restored-From", idText(t.RestoredFrom)},
		{"Forked-From", idText(t.ForkedFrom)},
		{"Promoted-From", idText(t.PromotedFrom)},
	}
}

func idText(id ID) string {
	if id.IsZero() {
		return ""
	}
	return id.String()
}

func boolText(b bool) string {
	if b {
		return "true"
	}
	return ""
}

// cutLine is a text on one line of at most so many characters.
func cutLine(text string, most int) string {
	runes := []rune(oneLine(text))
	if len(runes) <= most {
		return string(runes)
	}
	return strings.TrimSpace(string(runes[:most-1])) + "…"
}

// oneLine makes valid UTF-8 with single spaces and without control and format
// characters, which could hide or reorder what follows; joiners stay, for emoji
// and the scripts that need them.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == '\u200c', r == '\u200d':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Join(strings.Fields(s), " ")
}

// ParseSnapshot reads a snapshot commit. Trailers are looked for only in the
// last paragraph, as Git does, and never in the subject; the last value of a key
// counts; values that do not parse are left zero.
func ParseSnapshot(c *Commit) *Snapshot {
	s := &Snapshot{ID: c.ID, Tree: c.Tree, Parents: c.Parents, Lost: c.Lost, PrunedAt: c.PrunedAt, Author: c.Author, At: c.Committer.When}
	first, body, _ := strings.Cut(c.Message, "\n")
	s.Subject = first
	for _, t := range parseTrailers(body) {
		switch t.key {
		case "State":
			s.State = t.value
		case "Message":
			s.Message = t.value
		}
		s.Trailers.set(t)
	}
	return s
}

// parseTrailers reads the last paragraph if every line of it is a trailer.
func parseTrailers(body string) []trailer {
	body = strings.TrimRight(body, "\n")
	if at := strings.LastIndex(body, "\n\n"); at >= 0 {
		body = body[at+2:]
	} else if rest, ok := strings.CutPrefix(body, "\n"); ok {
		body = rest
	} else {
		return nil
	}
	var out []trailer
	for line := range strings.SplitSeq(body, "\n") {
		key, value, ok := strings.Cut(line, ":")
		if !ok || strings.ContainsAny(key, " \t") {
			return nil
		}
		if key, ok := strings.CutPrefix(key, trailerPrefix); ok {
			out = append(out, trailer{key, strings.TrimSpace(value)})
		}
	}
	return out
}

func (t *Trailers) set(f trailer) {
	switch f.key {
	case "Mission":
		t.Mission = f.value
	case "Trigger":
		t.Triggers = strings.Fields(f.value)
	case "Turn":
		t.Turn = parseCount(f.value)
	case "Prompt":
		t.Prompt = f.value
	case "Record":
		t.Record = parseIDOrZero(f.value)
	case "Session":
		t.Session = f.value
	case "Git-Head":
		if IsCommitName(f.value) {
			t.GitHead = f.value
		}
	case "Git-Branch":
		t.GitBranch = f.value
	case "Skipped":
		t.Skipped = parseCount(f.value)
	case "Late":
		t.Late = f.value == "true"
	case "Partial":
		t.Partial = f.value == "true"
	case "Restored-From":
		t.RestoredFrom = parseIDOrZero(f.value)
	case "Forked-From":
		t.ForkedFrom = parseIDOrZero(f.value)
	case "Promoted-From":
		t.PromotedFrom = parseIDOrZero(f.value)
	}
}

func parseCount(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

func parseIDOrZero(s string) ID {
	id, err := ParseID(s)
	if err != nil {
		return ID{}
	}
	return id
}
