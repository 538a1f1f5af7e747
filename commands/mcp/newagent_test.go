package mcp_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// A newAgent speaks protocol 2026-07-28, the newest that the SDK knows, a line at a time: it
// begins no session, each request says who asks, and the server calls nobody.
type newAgent struct {
	oldAgent
	capabilities string
}

func (w *world) newAgent(capabilities string) newAgent {
	in, out := w.serve()
	a := newAgent{oldAgent{w.t, in, bufio.NewScanner(out)}, capabilities}
	a.lines.Buffer(nil, 1<<20)
	return a
}

// asks sends a request, whose other parameters are given as they are in JSON.
func (a newAgent) asks(id int, method, parameters string) {
	a.t.Helper()
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"new","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":%s}`
	a.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{`+meta+`%s}}`, id, method, a.capabilities, parameters))
}

func (a newAgent) calls(id int, tool, input, more string) {
	a.t.Helper()
	a.asks(id, "tools/call", fmt.Sprintf(`,"name":%q,"arguments":%s%s`, tool, input, more))
}

// question is what a tool wants to know from the agent's user before it acts.
type question struct {
	Result struct {
		ResultType    string
		RequestState  string
		InputRequests map[string]struct {
			Method string
			Params struct{ Message string }
		}
	}
}

// wants reads the answer to a call, which is one question, and gives its id and the state.
func (a newAgent) wants(part string) (id, state string) {
	a.t.Helper()
	var q question
	line := a.reads(part)
	if err := json.Unmarshal([]byte(line), &q); err != nil || q.Result.ResultType != "input_required" || len(q.Result.InputRequests) != 1 || q.Result.RequestState == "" {
		a.t.Fatalf("no question: %s, %v", line, err)
	}
	for id, r := range q.Result.InputRequests {
		if r.Method != "elicitation/create" || !strings.Contains(r.Params.Message, part) {
			a.t.Errorf("question %s is %+v", id, r)
		}
		return id, q.Result.RequestState
	}
	return "", ""
}

// TestNewAgent: an agent of the newest protocol finds the tools without a session; one that
// must ask its user answers with the question, and is called again with what they said.
func TestNewAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.newAgent(`{"elicitation":{"form":{}}}`)
	a.asks(1, "server/discover", "")
	a.reads(`"id":1`, `"supportedVersions":["2026-07-28"`, `"tools":{`, `"instructions":"Umbra keeps a snapshot`)
	a.asks(2, "tools/list", "")
	a.reads(`"id":2`, `"name":"enter_fork"`, `"name":"save_context"`, `"inputSchema"`)
	a.calls(3, "cat", `{"moment":"login@start","path":"a.txt"}`, "")
	a.reads(`"id":3`, `"text":"one"`, `"resultType":"complete"`)
	for i, c := range []struct{ action, said, holds string }{
		{"decline", "Your user said no. Nothing was changed.", "two\n"},
		{"cancel", "Your user could not be asked. Nothing was changed.", "two\n"},
		{"accept", "1 changed", "one\n"},
	} {
		a.calls(10+2*i, "restore", `{"moment":"login@start"}`, "")
		id, state := a.wants("change  a.txt")
		if !w.holds("two\n") {
			t.Error("done before the user's answer")
		}
		a.calls(11+2*i, "restore", `{"moment":"login@start"}`, fmt.Sprintf(`,"requestState":%q,"inputResponses":{%q:{"action":%q,"content":{}}}`, state, id, c.action))
		a.reads(fmt.Sprintf(`"id":%d`, 11+2*i), c.said)
		if !w.holds(c.holds) {
			t.Errorf("after %s the file is not %q", c.action, c.holds)
		}
	}
}

// TestNewAgentAlone: without a way to ask its user, an agent of the newest protocol is told
// what they type.
func TestNewAgentAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.newAgent(`{}`)
	a.calls(1, "restore", `{"moment":"login@start"}`, "")
	a.reads(`"id":1`, "This agent can't ask its user.", "umbra restore --mission=login login@start")
	if !w.holds("two\n") {
		t.Error("done without the user")
	}
}
