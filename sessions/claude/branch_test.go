package claude

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

// backIn are the prompts of the real transcripts whose user had gone back before, and
// the last line that they go on from.
var backIn = map[string]string{
	"2.1.329/tui-rewind.jsonl: after rewind HERON": "8b95f593",
}

// TestWentBack: at each prompt of each real transcript the conversation goes on from its
// end, but where its user had gone back.
func TestWentBack(t *testing.T) {
	met := 0
	for _, name := range transcripts {
		all := fixture(t, name)
		start := 0
		for _, b := range linesOf(all) {
			l, _ := parseLine(b)
			kind, m := l.classify()
			before := all[:start]
			start += len(b)
			if kind != classPrompt {
				continue
			}
			plain, err := Adapter{}.Cut(bytes.NewReader(before))
			if err != nil {
				continue // nothing could go on
			}
			kept, after := before[:plain.Length], all[plain.Length:]
			line, back, told, err := Adapter{}.WentBack(bytes.NewReader(kept), bytes.NewReader(after), int64(len(before)-len(kept)))
			from, want := backIn[name+": "+words(m)]
			if err != nil || !told || back != want || back && !strings.HasPrefix(line, from) {
				t.Errorf("%s: at %q: went back %v to %q, want %v (%v, %v)", name, words(m), back, line, want, told, err)
			}
			if !want {
				continue
			}
			met++
			cut, end, err := Adapter{}.CutAfter(bytes.NewReader(kept), line)
			left := linesOf(kept[:cut.Length])
			if last, _ := parseLine(left[len(left)-1]); end != cut.Length || err != nil || string(last.uuid) != line || cut.Events != len(left) || cut.Length >= plain.Length {
				t.Errorf("%s: at %q it is cut after %s, %d lines: %+v %d (%v)", name, words(m), last.uuid, len(left), cut, end, err)
			}
		}
	}
	if met != len(backIn) {
		t.Errorf("%d of %d prompts after going back", met, len(backIn))
	}
}

// said makes the line of a person, "" for no parent.
func saidLine(id, parent, content string) string {
	return `{"type":"user","uuid":"` + id + `","parentUuid":` + orNull(parent) + `,"message":{"role":"user","content":"` + content + `"}}` + "\n"
}

func answerLine(id, parent string) string {
	return `{"type":"assistant","uuid":"` + id + `","parentUuid":` + orNull(parent) + `,"message":{"id":"m` + id + `","role":"assistant","content":[{"type":"text","text":"yes"}]}}` + "\n"
}

func orNull(id string) string {
	if id == "" {
		return "null"
	}
	return `"` + id + `"`
}

// TestWentBackTo: what a prompt goes on from, however it came there.
func TestWentBackTo(t *testing.T) {
	one := saidLine("p1", "", "first") + answerLine("a1", "p1")
	two := one + saidLine("p2", "a1", "second") + answerLine("a2", "p2")
	const command, printed = "<command-name>/x</command-name>", "<local-command-stdout>set</local-command-stdout>"
	meta := func(id, parent string) string {
		return strings.Replace(saidLine(id, parent, "expanded"), `"type"`, `"isMeta":true,"type"`, 1)
	}
	boundary := func(more string) string {
		return `{"type":"system","subtype":"compact_boundary","uuid":"c","parentUuid":null` + more + "}\n"
	}
	hook := func(parent string) string {
		return `{"type":"attachment","uuid":"h","parentUuid":` + orNull(parent) + `,"attachment":{"type":"hook"}}` + "\n"
	}
	local := func(parent string) string { return saidLine("l1", parent, command) + saidLine("l2", "l1", printed) }
	for _, tt := range []struct {
		name, before, written, after string
		line                         string
		back                         bool
	}{
		{"the end", two, "", saidLine("p3", "a2", "third"), "", false},
		{"the turn before", two, "", saidLine("p3", "a1", "third"), "a1", true},
		{"nothing", two, "", saidLine("p3", "", "third"), "", false},
		{"nothing, through what the client wrote", two, hook(""), saidLine("p3", "h", "third"), "", false},
		{"the turn before, through what the client wrote", two, hook("a1"), saidLine("p3", "h", "third"), "a1", true},
		{"the end, through a local command", two + local("a2"), "", saidLine("p3", "l2", "third"), "", false},
		{"the turn before, and a local command there", two + local("a1"), "", saidLine("p3", "l2", "third"), "a1", true},
		{"the turn before, and a shell command there", two + saidLine("l1", "a1", "<bash-input>ls</bash-input>") + saidLine("l2", "l1", "<bash-stdout>x</bash-stdout>"), "", saidLine("p3", "l2", "third"), "a1", true},
		{"before a command that became a prompt", one + saidLine("p2", "a1", command) + meta("e", "p2") + answerLine("a2", "e"), "", saidLine("p3", "a1", "third"), "a1", true},
		{"after a command that became a prompt", one + saidLine("p2", "a1", command) + meta("e", "p2") + answerLine("a2", "e"), "", saidLine("p3", "a2", "third"), "", false},
		{"after a prompt without an answer", two, saidLine("p3", "a2", "third"), saidLine("p4", "p3", "fourth"), "", false},
		{"before a prompt without an answer", two, saidLine("p3", "a2", "third"), saidLine("p4", "a2", "fourth"), "", false},
		{"the turn before that", two, saidLine("p3", "a2", "third"), saidLine("p4", "a1", "fourth"), "a1", true},
		{"before a command that was answered at once", one + saidLine("p2", "a1", command) + answerLine("a2", "p2"), "", saidLine("p3", "a1", "third"), "a1", true},
		{"after a compaction", two, boundary(""), saidLine("p3", "c", "third"), "", false},
		{"after a compaction that says of what", two, boundary(`,"logicalParentUuid":"a2"`), saidLine("p3", "c", "third"), "", false},
		{"the first prompt, below what the client wrote", hook("") + saidLine("p1", "h", "first") + answerLine("a1", "p1"), "", saidLine("p3", "h", "third"), "h", true},
		{"the end, through what stands between a command and its prompt", one + saidLine("p2", "a1", command) + hook("p2") + meta("e", "h") + answerLine("a2", "e"), "", saidLine("p3", "a2", "third"), "", false},
		{"the end, beside another client", two + saidLine("q", "a1", "other") + answerLine("b", "q") + answerLine("a3", "a2"), "", saidLine("p3", "a3", "third"), "", false},
		{"the end, after a compaction of less than the turn", two + boundary(`,"logicalParentUuid":"a1"`) + strings.Replace(saidLine("s", "c", "sum"), `"type"`, `"isCompactSummary":true,"type"`, 1) + answerLine("a3", "s"), "", saidLine("p3", "a3", "third"), "", false},
		{"itself", two, "", saidLine("p3", "p3", "third"), "", false},
		{"no prompt", two, hook("a2"), "", "", false},
		{"no JSON", two, "", "{}\nx\n" + strings.Repeat("[", 99) + "\n", "", false},
	} {
		line, back, told, err := Adapter{}.WentBack(strings.NewReader(tt.before), strings.NewReader(tt.written+tt.after), int64(len(tt.written)))
		if line != tt.line || back != tt.back || !told || err != nil {
			t.Errorf("from %s: %q %v (%v, %v)", tt.name, line, back, told, err)
		}
	}
	prompt := saidLine("p3", "a1", "third")
	if line, back, told, err := (Adapter{}).WentBack(strings.NewReader(answerLine("a2", "p2")), strings.NewReader(prompt), 0); told || back || err != nil {
		t.Errorf("of an end without a prompt: %q %v (%v, %v)", line, back, told, err)
	}
	for line, want := range map[string][2]int{"a1": {len(one), len(one)}, "p1": {0, strings.Index(one, "\n") + 1}, "x": {}} {
		if cut, end, err := (Adapter{}).CutAfter(strings.NewReader(two), line); cut.Length != int64(want[0]) || end != int64(want[1]) || err != nil {
			t.Errorf("cut after %s: %+v %d (%v)", line, cut, end, err)
		}
	}
	if _, _, _, err := (Adapter{}).WentBack(strings.NewReader(two), brokenReader{}, 0); err == nil {
		t.Error("what follows can't be read, and nothing is said")
	}
	if _, _, _, err := (Adapter{}).WentBack(brokenReader{}, strings.NewReader(prompt), 0); err == nil {
		t.Error("the end can't be read, and nothing is said")
	}
	if _, _, err := (Adapter{}).CutAfter(brokenReader{}, "a1"); err == nil {
		t.Error("what was before can't be read, and nothing is said")
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

var _ sessions.Branching = Adapter{}
