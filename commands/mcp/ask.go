package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/umbra-vcs/umbra/commands/restores"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

type restoreInput struct {
	Moment           string   `json:"moment" jsonschema:"the moment to go back to, such as login@3, or login@3.0 for that before its prompt"`
	Mission          string   `json:"mission,omitempty" jsonschema:"name of the mission whose workspace is put back; without it your own"`
	FilesOnly        bool     `json:"files_only,omitempty" jsonschema:"the conversation stays as it is"`
	ConversationOnly bool     `json:"conversation_only,omitempty" jsonschema:"the files stay as they are"`
	Paths            []string `json:"paths,omitempty" jsonschema:"only these files and directories"`
	Others           string   `json:"others,omitempty" jsonschema:"what becomes of paths that somebody else changed since: keep or replace; leave it out until the plan names such paths"`
}

func restore(in restoreInput, self *missions.Mission) (line, error) {
	if in.Mission == "" {
		in.Mission = nameOf(self)
	}
	l := command("restore").with("mission", in.Mission).when(in.FilesOnly, "--files-only").when(in.ConversationOnly, "--conversation-only")
	for _, p := range in.Paths {
		if p == "" {
			return l, missions.Errorf(missions.KindUsage, "leave paths out for all files", "a path is empty")
		}
		l = l.with("path", p)
	}
	return l.others(in.Others).then(in.Moment), errors.Join(oneOf("others", in.Others, othersValues...), notFlags(in.Moment))
}

type promoteInput struct {
	Fork             string `json:"fork,omitempty" jsonschema:"name of the fork; without it your own mission, if it is one"`
	FilesOnly        bool   `json:"files_only,omitempty" jsonschema:"the parent's conversation stays as it is"`
	ConversationOnly bool   `json:"conversation_only,omitempty" jsonschema:"the parent's files stay as they are"`
	Others           string `json:"others,omitempty" jsonschema:"where both changed the same lines: keep what the parent has, or replace it; leave it out until the plan names such paths"`
}

func promote(in promoteInput, self *missions.Mission) (line, error) {
	if in.Fork == "" {
		in.Fork = nameOf(self)
	}
	l := command("promote", "--keep").when(in.FilesOnly, "--files-only").when(in.ConversationOnly, "--conversation-only").others(in.Others)
	return l.then(in.Fork), errors.Join(oneOf("others", in.Others, othersValues...), notFlags(in.Fork))
}

type saveInput struct {
	FilesOnly        bool   `json:"files_only,omitempty" jsonschema:"the other mission's conversation stays as it is"`
	ConversationOnly bool   `json:"conversation_only,omitempty" jsonschema:"the other mission's files stay as they are"`
	Others           string `json:"others,omitempty" jsonschema:"where both changed the same lines: keep what the other mission has, or replace it; leave it out until the plan names such paths"`
}

func saveContext(in saveInput, self *missions.Mission) (line, error) {
	return promote(promoteInput{FilesOnly: in.FilesOnly, ConversationOnly: in.ConversationOnly, Others: in.Others}, self)
}

// othersValues are what can become of paths that two sides have changed.
var othersValues = []string{"keep", "replace"}

// others adds what becomes of such paths.
func (l line) others(choice string) line {
	return l.when(choice == "keep", "--keep-others").when(choice == "replace", "--all")
}

func nameOf(m *missions.Mission) string {
	if m == nil {
		return ""
	}
	return m.Name
}

// question is the id of what is asked of the user.
const question = "go_ahead"

// asking is a tool that shows its plan to the agent's user, and acts when the user says
// yes. An agent that can't ask its user is given the plan, and the command that does it.
func asking[In any](name, about string, line func(In, *missions.Mission) (line, error)) adder {
	return func(s *server, to *sdk.Server) {
		hints := &sdk.ToolAnnotations{}
		add(to, name, about, hints, func(ctx context.Context, r *sdk.CallToolRequest, in In) (*sdk.CallToolResult, error) {
			self, err := s.self(ctx)
			if err != nil {
				return nil, err
			}
			l, err := line(in, self)
			if err != nil {
				return nil, err
			}
			plan := s.plan(ctx, self, l)
			answer, answered := r.Params.InputResponses[question].(*sdk.ElicitResult)
			switch before := r.Params.RequestState; {
			case plan.refused:
				return refusal(plan.text), nil
			case !canAsk(r.Session):
				return plan.forUser("This agent can't ask its user."), nil
			case answered:
				return s.decide(ctx, self, plan, before, answer), nil
			case before != "":
				return plan.forUser("Your user could not be asked."), nil
			case asksByCalling(r.Session):
				answer, err := r.Session.Elicit(ctx, plan.question())
				if err != nil {
					answer = &sdk.ElicitResult{Action: "cancel"}
				}
				return s.decide(ctx, self, s.plan(ctx, self, l), plan.digest(), answer), ctx.Err()
			}
			return &sdk.CallToolResult{RequestState: plan.digest(), InputRequests: sdk.InputRequestMap{question: plan.question()}}, nil
		})
	}
}

// decide does what the user has decided about a plan, of which before is the digest of what
// the user was shown.
func (s *server) decide(ctx context.Context, self *missions.Mission, plan plan, before string, answer *sdk.ElicitResult) *sdk.CallToolResult {
	switch {
	case answer.Action == "decline":
		return text("Your user said no. Nothing was changed.")
	case answer.Action != "accept":
		return plan.forUser("Your user could not be asked.")
	case plan.refused:
		return refusal(plan.text)
	case plan.digest() != before: // moments such as login~1 move
		return plan.forUser("What would change is no longer what your user was shown.")
	}
	return said(s.run(ctx, idOf(self), plan.line))
}

// A plan is what a command line would do, or why it would not.
type plan struct {
	line    line
	text    string
	refused bool
}

// plan runs a command line for what it would do.
func (s *server) plan(ctx context.Context, self *missions.Mission, l line) plan {
	o := s.runKeeping(ctx, idOf(self), l.when(true, "--preview").when(true, "--json"), 0)
	if o.failed() {
		return plan{l, o.text(), true}
	}
	var result missions.PromoteResult
	if err := json.Unmarshal(o.out.buffer.Bytes(), &result); err != nil {
		return plan{l, inWords(missions.AsError(err)), true}
	}
	var b bytes.Buffer
	p := s.call.Printer(s.call.Env, &b)
	if l.words[0] == "promote" {
		restores.WritePromoted(p, result)
	} else {
		restores.WriteOutcome(p, l.words[0], result.RestoreResult)
	}
	_ = p.Flush() // a Buffer takes all
	words := paragraphs(b.String(), o.said())
	if len(result.Refused) == 0 {
		return plan{l, words, false}
	}
	if len(result.Foreign) > 0 && !slices.Contains(l.words, "--keep-others") && !slices.Contains(l.words, "--all") {
		words += "\nAsk your user what becomes of these paths, and say it in others: keep or replace."
	}
	return plan{l, words + "\nNothing was changed.", true}
}

// digest stands for a plan that a user was shown, until the answer comes: the moment, and
// what becomes of files. The agent's own conversation goes on meanwhile.
func (p plan) digest() string {
	lines := slices.DeleteFunc(strings.Split(p.text, "\n"), func(l string) bool { return strings.HasPrefix(l, "  conversation: ") })
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])
}

// question is a plan as it is put to the user. Some agents show no more than three lines of
// it at first.
func (p plan) question() *sdk.ElicitParams {
	return &sdk.ElicitParams{
		Mode:            "form",
		Message:         head(p.text) + "\nGo ahead?",
		RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}},
	}
}

// forUser is the plan, why it was not carried out, and what the user types to do so.
func (p plan) forUser(why string) *sdk.CallToolResult {
	if p.refused {
		return refusal(p.text)
	}
	words := slices.Concat([]string{"umbra"}, p.line.words)
	return text(fmt.Sprintf("%s\n\n%s Nothing was changed. Show your user the plan; to do it, your user types in a shell:\n  %s",
		cut(p.text), why, home.ShellCommand(words)))
}

// canAsk reports whether the agent can put a question to its user.
func canAsk(session *sdk.ServerSession) bool {
	p := session.InitializeParams()
	if p == nil || p.Capabilities == nil || p.Capabilities.Elicitation == nil {
		return false
	}
	e := p.Capabilities.Elicitation
	return e.Form != nil || e.URL == nil // an old one says nothing, and means a form
}

// asksByCalling reports whether an agent is asked by a call of the server's: its protocol
// is older than that in which the tool is called again with the answer.
func asksByCalling(session *sdk.ServerSession) bool {
	p := session.InitializeParams()
	return p != nil && p.ProtocolVersion < "2026-07-28"
}

// mostLines is how much of a plan a question shows.
const mostLines = 40

// head is a text's beginning, and how much more there is.
func head(text string) string {
	lines := strings.Split(text, "\n")
	if len(lines) <= mostLines {
		return text
	}
	return strings.Join(lines[:mostLines], "\n") + fmt.Sprintf("\n… and %d lines more", len(lines)-mostLines)
}
