package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

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
	l, err := l.others(in.Others)
	if err != nil {
		return l, err
	}
	return l.then(in.Moment), notFlags(in.Moment)
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
	l, err := command("promote", "--keep").when(in.FilesOnly, "--files-only").when(in.ConversationOnly, "--conversation-only").others(in.Others)
	if err != nil {
		return l, err
	}
	return l.then(in.Fork), notFlags(in.Fork)
}

// others adds what becomes of paths that two sides have changed.
func (l line) others(choice string) (line, error) {
	switch choice {
	case "":
		return l, nil
	case "keep":
		return l.when(true, "--keep-others"), nil
	case "replace":
		return l.when(true, "--all"), nil
	}
	return l, missions.Errorf(missions.KindUsage, "say keep or replace, or leave it out", "others is %q", choice)
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
			if answer, ok := r.Params.InputResponses[question].(*sdk.ElicitResult); ok && answer.Action == "accept" {
				if shown(s.plan(ctx, self, l)) != r.Params.RequestState { // moments such as login~1 move
					return s.planned(ctx, self, l, "What would change is no longer what your user was shown.")
				}
				return said(s.run(ctx, idOf(self), l)), nil
			} else if ok && answer.Action == "decline" {
				return text("Your user said no. Nothing was changed."), nil
			} else if ok {
				return s.planned(ctx, self, l, "Your user could not be asked.")
			}
			if !canAsk(r.Session) {
				return s.planned(ctx, self, l, "This agent can't ask its user.")
			}
			plan := s.plan(ctx, self, l)
			if plan.failed() {
				return said(plan), nil
			}
			return &sdk.CallToolResult{RequestState: shown(plan), InputRequests: sdk.InputRequestMap{question: &sdk.ElicitParams{
				Mode:            "form",
				Message:         head(plan.text()) + "\nGo ahead?", // some agents show no more than three lines at first
				RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}},
			}}}, nil
		})
	}
}

// shown stands for a plan that a user was shown, until the answer comes: the moment, and
// what becomes of files. The agent's own conversation goes on meanwhile.
func shown(plan outcome) string {
	lines := slices.DeleteFunc(strings.Split(plan.out, "\n"), func(l string) bool { return strings.HasPrefix(l, "  conversation: ") })
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])
}

// plan runs a command line for what it would do.
func (s *server) plan(ctx context.Context, self *missions.Mission, l line) outcome {
	return s.run(ctx, idOf(self), l.when(true, "--preview"))
}

// planned is the plan, why it was not carried out, and what the user types to do so.
func (s *server) planned(ctx context.Context, self *missions.Mission, l line, why string) (*sdk.CallToolResult, error) {
	plan := s.plan(ctx, self, l)
	if plan.failed() {
		return said(plan), nil
	}
	words := slices.Concat([]string{"umbra"}, l.words)
	return text(fmt.Sprintf("%s\n\n%s Nothing was changed. Show your user the plan; to do it, your user types in a shell:\n  %s",
		plan.text(), why, home.ShellCommand(words))), nil
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
