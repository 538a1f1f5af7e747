package missions

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Label says in words what a snapshot shows: first what made the change that it shows,
// then what happened at that moment or comes next. Logs, the timeline, editors and the
// subjects of commits have it from here.
type Label struct {
	// Made is what made the change: "Write pay/sum.sh". It is "" if nothing changed, or
	// nobody knows.
	Made string
	// Then is why the snapshot was taken: "before Bash go test", "turn ended".
	Then string
}

// What a prompt's own snapshot says, how that of a prompt begins which was typed while the
// agent worked, and the messages of the two turns that have ended without being done.
const (
	MessagePrompt      = "prompt"
	MessageTyped       = "prompt while it works"
	MessageInterrupted = "interrupted"
	MessageEndedUnseen = "turn ended unseen"
)

// maxNamedMakers is how many tool calls a label names.
const maxNamedMakers = 3

// LabelOf is the label of a snapshot.
func LabelOf(e Entry) Label {
	l := Label{Then: e.Message}
	if e.HasPromptTrigger() && e.Message == MessagePrompt {
		l.Then = "before the prompt"
	}
	switch {
	case e.Files == (FileCounts{}) || e.Parent == "" || e.Operation != "":
		return l
	case len(e.MadeBy) > 0:
		l.Made = makersWords(e.MadeBy)
	case e.HasPromptTrigger(),
		slices.Contains(e.Triggers, string(TriggerManual)) && strings.HasPrefix(e.Message, "before ") && e.State != StateRunning && e.State != StateWaiting:
		l.Made = "between turns"
	}
	return l
}

// makersWords names tool calls, each once.
func makersWords(made []ToolUse) string {
	var names []string
	for _, tool := range made {
		if words := tool.Words(); !slices.Contains(names, words) {
			names = append(names, words)
		}
	}
	if more := len(names) - maxNamedMakers; more > 0 {
		names = append(names[:maxNamedMakers], Itoa(more)+" more")
	}
	return strings.Join(names, ", ")
}

// String is the label on one line.
func (l Label) String() string {
	switch {
	case l.Made == "":
		return l.Then
	case l.Then == "":
		return l.Made
	}
	return l.Made + " · " + l.Then
}

// StateWords is the state of the snapshot's mission then, as people are told.
func (e Entry) StateWords() string {
	if e.NotLaunched {
		return NotLaunched
	}
	return string(e.State)
}

// Words are a snapshot's label, with the prompt that was answered next: for where no
// heading says that.
func (e Entry) Words() string {
	text := LabelOf(e).String()
	if prompt := PromptLine(e.Prompt); prompt != "" && e.HasPromptTrigger() {
		text += ": " + prompt
	}
	return text
}

// How long the subject of a commit is at most, in characters, and how much of that its
// label takes from a long prompt.
const (
	maxSubject   = 100
	subjectLabel = 52
)

// Subject is the first line of the snapshot's commit: its turn, what began that, and the
// label. Git's log and blame, and tools made for Git, show nothing else.
func (l Label) Subject(turn int, prompt string) string {
	head, label := "turn "+Itoa(turn), l.String()
	if turn == 0 {
		return cutText(label, maxSubject)
	}
	if prompt = PromptLine(prompt); prompt != "" {
		head += ": " + prompt
	}
	const between = " · "
	room := maxSubject - utf8.RuneCountInString(between)
	label = cutText(label, max(subjectLabel, room-utf8.RuneCountInString(head)))
	return cutText(head, room-utf8.RuneCountInString(label)) + between + label
}

// PromptLine is a prompt on one line, its line breaks shown as such.
func PromptLine(prompt string) string {
	var lines []string
	for line := range strings.Lines(withoutPasteTags(prompt)) {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, " ⏎ ")
}

// pasteTag is what Claude Code, from 2.1.329 on, writes before and after a text that was
// pasted.
var pasteTag = LazyPattern(`</?pasted_content(?: id="[^"]*")?>`)

// withoutPasteTags is a prompt as its user has given it.
func withoutPasteTags(prompt string) string {
	if !strings.Contains(prompt, "pasted_content") {
		return prompt
	}
	return pasteTag().ReplaceAllString(prompt, "")
}

// cutText is as much of a text as fits into so many characters.
func cutText(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return strings.TrimSpace(string([]rune(text)[:max(most-1, 0)])) + "…"
}
