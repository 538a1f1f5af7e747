package mcp_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
)

// oldAgent speaks protocol 2024-11-05, a line at a time.
type oldAgent struct {
	t     *testing.T
	to    io.Writer
	lines *bufio.Scanner
}

func (w *world) oldAgent(capabilities string) oldAgent {
	in, out := w.serve()
	a := oldAgent{w.t, in, bufio.NewScanner(out)}
	a.lines.Buffer(nil, 1<<20)
	a.says(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":` + capabilities + `,"clientInfo":{"name":"old","version":"1"}}}`)
	a.reads(`"protocolVersion":"2024-11-05"`)
	a.says(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return a
}

func (a oldAgent) says(line string) {
	a.t.Helper()
	if _, err := io.WriteString(a.to, line+"\n"); err != nil {
		a.t.Fatal(err)
	}
}

func (a oldAgent) calls(id int, tool, input string) {
	a.t.Helper()
	a.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, input))
}

// reads takes one line, which has these parts.
func (a oldAgent) reads(parts ...string) string {
	a.t.Helper()
	if !a.lines.Scan() {
		a.t.Fatalf("no line: %v", a.lines.Err())
	}
	line := a.lines.Text()
	if !json.Valid([]byte(line)) {
		a.t.Fatalf("not JSON: %s", line)
	}
	for _, part := range parts {
		if !strings.Contains(line, part) {
			a.t.Errorf("no %q in %s", part, line)
		}
	}
	return line
}

// answers takes the question that was put to the user, and answers it.
func (a oldAgent) answers(part, answer string) {
	a.t.Helper()
	var question struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if err := json.Unmarshal([]byte(a.reads(part)), &question); err != nil || question.Method != "elicitation/create" {
		a.t.Fatalf("%+v, %v", question, err)
	}
	a.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, question.ID, answer))
}

func TestOldAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.oldAgent(`{"elicitation":{}}`)
	a.says(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	a.reads(`"id":1`, `"name":"timeline"`, `"inputSchema"`)
	a.calls(2, "cat", `{"moment":"login@start","path":"a.txt"}`)
	a.reads(`"id":2`, `"text":"one"`)
	for id, answer := range []string{`"error":{"code":-32603,"message":"no user here"}`, `"result":{"action":"cancel"}`, `"result":{"action":"decline"}`} {
		a.calls(10+id, "restore", `{"moment":"login@start"}`)
		a.answers("change  a.txt", answer)
		said := a.reads(fmt.Sprintf(`"id":%d`, 10+id), "Nothing was changed.")
		if planned := strings.Contains(said, "umbra restore --mission=login login@start"); planned != !strings.Contains(answer, "decline") {
			t.Errorf("after %s: %s", answer, said)
		}
	}
	a.calls(3, "restore", `{"moment":"login@start"}`)
	if !w.holds("two\n") {
		t.Error("done before the user's answer")
	}
	a.answers("change  a.txt", `"result":{"action":"accept","content":{}}`)
	a.reads(`"id":3`, "1 changed")
	if !w.holds("one\n") {
		t.Error("not done after the user's answer")
	}
}

// TestMalformed: what is no message, or none that makes sense, ends nothing.
func TestMalformed(t *testing.T) {
	t.Parallel()
	a := newWorld(t).oldAgent(`{}`)
	for _, line := range []string{"garbage{", "{}", "[]", "3", `{"jsonrpc":"1.0","id":1,"method":"tools/list"}`, "\xff\xfe", strings.Repeat("[", 20000)} {
		a.says(line)
		a.reads(`"id":null`, "-32700")
	}
	a.says("")
	a.says(`{"jsonrpc":"2.0","id":1,"method":"no/such"}`)
	a.reads(`"id":1`, "-32601")
	a.says(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":3}`)
	a.reads(`"id":2`, "-32602")
	a.calls(3, "missions", `[1]`)
	a.reads(`"id":3`, `"isError":true`)
	a.calls(4, "missions", `{"all":"yes"}`)
	a.reads(`"id":4`, `"isError":true`, "all")
	a.calls(5, "missions", `{}`)
	a.reads(`"id":5`, "login")
}

// TestCanceled: a call that its agent cancels is interrupted, and holds up no other.
func TestCanceled(t *testing.T) {
	t.Parallel()
	a := newWorld(t).oldAgent(`{}`)
	a.calls(1, "wait", `{"forks":["login"],"seconds":86400}`)
	a.calls(2, "missions", `{}`)
	a.reads(`"id":2`, "login")
	a.says(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	a.reads(`"id":1`, "interrupted")
	a.calls(3, "missions", `{}`)
	a.reads(`"id":3`, "login")
}

// TestTerminated: a signal ends the server as the end of its stdin does, though a tool runs
// or its user is asked.
func TestTerminated(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(oldAgent){
		"idle": func(oldAgent) {},
		"in a tool": func(a oldAgent) {
			a.calls(1, "wait", `{"forks":["login"],"seconds":86400}`)
			a.calls(2, "missions", `{}`)
			a.reads(`"id":2`)
		},
		"asking": func(a oldAgent) {
			a.calls(1, "restore", `{"moment":"login@start"}`)
			a.reads("elicitation/create")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			a := w.oldAgent(`{"elicitation":{}}`)
			begin(a)
			(<-w.signals) <- syscall.SIGTERM
			for a.lines.Scan() { // until stdout ends
				if line := a.lines.Text(); !strings.Contains(line, `"id":1`) && !strings.Contains(line, "cancelled") {
					t.Errorf("at the end it says %s", line)
				}
			}
			if !w.holds("two\n") {
				t.Error("something was restored")
			}
		})
	}
}
