package claude

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

func read(t testing.TB, b []byte) sessions.Conversation {
	t.Helper()
	c, err := sessions.ReadConversation(Adapter{}, bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestReadReal pins what the real transcripts say, version by version.
func TestReadReal(t *testing.T) {
	for _, c := range []struct {
		name    string
		prompts []string // first words
		tools   []string // of the first turn
	}{
		{"2.0.77/tools.jsonl", []string{"hooks PLATYPUS"}, []string{"Write /home/dev/w8/B", "Bash echo C > C", "Task sub", "Bash seq 1 20000"}},
		{"2.1.197/tools.jsonl", []string{"hooks PLATYPUS"}, []string{"Write /home/dev/w8/B", "Bash echo C > C"}},
		{"2.1.329/basic-p.jsonl", []string{"hello"}, nil},
		{"2.1.329/killed-then-resumed.jsonl", []string{"kill PLATYPUS", "what?"}, []string{"Bash! echo started > K; sleep 30; echo done >> K"}},
		{"2.1.329/parallel-thinking.jsonl", []string{"parallel PLATYPUS"}, []string{"Bash sleep 1; echo A > A", "Write /home/dev/w7/B", "Bash echo C > C", "Bash echo D > D"}},
		{"2.1.329/resume3turns.jsonl", []string{"codeword PLATYPUS", "second OTTER", "third HERON", "x"}, []string{"Write /home/dev/p/src/n.txt"}},
		{"2.1.329/tools-subagent-compact/85b30534-6164-4966-a9c1-bdcae92e15c6.jsonl", []string{"Please do the work", "<task-notification>", "resume me"},
			[]string{"Read /home/dev/w2/a.txt", "Write /home/dev/w2/new.txt", "Edit /home/dev/w2/a.txt", "Bash echo hi; pwd; cd /tmp && pwd", "Bash! false", "Agent sub", "Bash seq 1 20000"}},
		{"2.1.329/tui-branch-compact.jsonl", []string{"@@tool Write", "after rewind HERON", "on branch IBIS", "post compact"}, []string{"Write /home/dev/w6/n.txt"}},
		{"2.1.329/tui-rewind.jsonl", []string{"@@tool Write", "@@tool Edit", "third prompt OTTER", "after rewind HERON"}, []string{"Write /home/dev/w6/n.txt"}},
	} {
		conv := read(t, fixture(t, c.name))
		if conv.State != sessions.StateIdle || conv.Bad != 0 || conv.Torn || len(conv.Turns) != len(c.prompts) {
			t.Errorf("%s: state %s, %d bad, torn %t, %d turns", c.name, conv.State, conv.Bad, conv.Torn, len(conv.Turns))
			continue
		}
		for i, turn := range conv.Turns {
			if !strings.HasPrefix(turn.Prompt, c.prompts[i]) || !turn.Done || turn.At.IsZero() || turn.End.Before(turn.At) || turn.Tokens.Output <= 0 {
				t.Errorf("%s: turn %d is %+v", c.name, i+1, turn)
			}
		}
		var tools []string
		for _, tool := range conv.Turns[0].Tools {
			name := tool.Name
			if tool.Failed {
				name += "!"
			}
			if !tool.Done {
				name += "?"
			}
			tools = append(tools, name+" "+tool.Target)
		}
		if !reflect.DeepEqual(tools, c.tools) {
			t.Errorf("%s: tools %q, want %q", c.name, tools, c.tools)
		}
	}
}

// TestFollow: fed in pieces of any size, a follower knows at each moment what a
// reader of the bytes so far knows, and what it said before does not change.
func TestFollow(t *testing.T) {
	for _, name := range transcripts {
		b := fixture(t, name)
		for _, size := range []int{1, 7, 4096, len(b)} {
			f := Adapter{}.Follow()
			var early, earlyCopy sessions.Conversation
			for at := 0; at < len(b); at += size {
				f.Feed(b[at:min(at+size, len(b))])
				if early.Events == 0 && at > len(b)/2 {
					early, earlyCopy = f.Conversation(), read(t, b[:min(at+size, len(b))])
				}
			}
			if !reflect.DeepEqual(f.Conversation(), read(t, b)) {
				t.Errorf("%s: in pieces of %d the conversation differs", name, size)
			}
			if !reflect.DeepEqual(early, earlyCopy) {
				t.Errorf("%s: a conversation changed after it was given out", name)
			}
		}
	}
}

func TestState(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		want  sessions.State
		turns int
	}{
		{"nothing", nil, sessions.StateEmpty, 0},
		{"prompt", []string{cutPrompt}, sessions.StateRunning, 1},
		{"answer", []string{cutPrompt, cutAnswer}, sessions.StateIdle, 1},
		{"thoughts", []string{cutPrompt, cutThink}, sessions.StateRunning, 1},
		{"call", []string{cutPrompt, cutUse}, sessions.StateRunning, 1},
		{"result", []string{cutPrompt, cutUse, cutResult}, sessions.StateRunning, 1},
		{"interrupted", []string{cutPrompt, cutUse, cutResult, cutStop}, sessions.StateInterrupted, 1},
		{"refused", []string{cutPrompt, cutRefused}, sessions.StateError, 1},
		{"next prompt", []string{cutPrompt, cutRefused, cutPrompt2}, sessions.StateRunning, 2},
		{"local command", []string{cutPrompt, cutAnswer, cutCommand, cutPrinted}, sessions.StateIdle, 1},
		{"command to the model", []string{cutPrompt, cutAnswer, cutCommand, cutExpand}, sessions.StateRunning, 2},
		{"compacted", []string{cutPrompt, cutAnswer, cutBound, cutSummary}, sessions.StateIdle, 1},
		{"compacted while working", []string{cutPrompt, cutUse, cutResult, cutBound, cutSummary}, sessions.StateRunning, 1},
	} {
		conv := read(t, []byte(transcript(c.lines...)))
		if conv.State != c.want || len(conv.Turns) != c.turns {
			t.Errorf("%s: state %s with %d turns, want %s with %d", c.name, conv.State, len(conv.Turns), c.want, c.turns)
		}
	}
	if got := read(t, []byte(transcript(cutCommand, cutExpand, cutAnswer))).Turns[0].Prompt; got != "/model x" {
		t.Errorf("prompt of a slash command is %q", got)
	}
}

// TestReadBad: foreign, damaged, huge and torn lines are counted, not fatal.
func TestReadBad(t *testing.T) {
	huge := `{"type":"user","uuid":"h","message":{"content":"` + strings.Repeat("x", 3<<20) + `"}}`
	in := transcript(cutPrompt, `garbage`, `[1,2]`, `{"a":"b{"type":"glued"}`, `{}`, `"text"`, huge, cutAnswer) + `{"type":"user`
	conv := read(t, []byte(in))
	if conv.Events != 4 || conv.Bad != 4 || !conv.Torn || conv.Length != int64(strings.LastIndexByte(in, '\n')+1) {
		t.Errorf("%d events, %d bad, torn %t, length %d", conv.Events, conv.Bad, conv.Torn, conv.Length)
	}
	if len(conv.Turns) != 2 || len(conv.Turns[1].Prompt) != 3<<20 || conv.State != sessions.StateIdle {
		t.Errorf("%d turns, state %s", len(conv.Turns), conv.State)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(linesOf(fixture(f, "2.0.77/tools.jsonl"))[2], 3)
	f.Add([]byte(transcript(cutPrompt, cutUse, cutResult, cutCommand, cutExpand, cutRefused)), 1)
	f.Fuzz(func(t *testing.T, b []byte, size int) {
		conv := read(t, b)
		if conv.Length > int64(len(b)) || conv.Torn != (conv.Length < int64(len(b))) {
			t.Fatalf("length %d of %d, torn %t", conv.Length, len(b), conv.Torn)
		}
		for i, turn := range conv.Turns {
			if turn.Start > turn.Stop || turn.Stop > conv.Length || i > 0 && turn.Start < conv.Turns[i-1].Start {
				t.Fatalf("turn %d is [%d, %d) of %d", i+1, turn.Start, turn.Stop, conv.Length)
			}
		}
		if size <= 0 || len(b)/size > 1000 {
			return
		}
		fo := Adapter{}.Follow()
		for at := 0; at < len(b); at += size {
			fo.Feed(b[at:min(at+size, len(b))])
		}
		if !reflect.DeepEqual(fo.Conversation(), conv) {
			t.Fatal("a follower differs from a reader")
		}
	})
}
