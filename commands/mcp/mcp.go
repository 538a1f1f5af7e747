// Package mcp serves Umbra's tools to an agent, over the Model Context Protocol on stdin
// and stdout. Each tool is a command line of Umbra's own that is run in this process: what
// the agent reads is what its user would. A tool that changes the workspace asks the user
// first. It is the one package that imports the protocol's SDK.
package mcp

import (
	"context"
	"errors"
	"io"
	"iter"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/plugin"
	"github.com/umbra-vcs/umbra/commands/version"
	"github.com/umbra-vcs/umbra/missions"
)

// Command is `umbra mcp`.
func Command() *call.Verb {
	ofPlugin := false
	return &call.Verb{
		Name: "mcp", Short: "serve Umbra's tools to an agent, over MCP (called by the agent)",
		Long: `Speaks the Model Context Protocol on stdin and stdout, until stdin ends. The tools list
missions and snapshots, show, compare and take them, fork the agent's own mission, run
forks in the background, enter and leave a side fork, report to the parent of a fork, and
plan a restore or a promotion. What changes files is done only when the user says yes:
in the agent, where it can ask, else by the command that the tool names.`,
		Flags: []flags.Flag{
			flags.Bool("plugin", "called by a plugin: no tools where the agent's launch has handed them over", &ofPlugin),
		},
		Run: func(c *call.Call) error { return serve(c, ofPlugin) },
	}
}

func serve(c *call.Call, ofPlugin bool) error {
	if c.IsTerminal(c.Stdin) {
		return missions.Errorf(missions.KindUsage, "claude mcp add umbra -- umbra mcp", "umbra mcp is started by an agent, which speaks to it on stdin")
	}
	s := &server{call: c, above: processesAbove()}
	spoken := newStream(c.Context, c.Stdin, c.Stdout)
	offered := tools()
	if ofPlugin && plugin.HasOtherTools(c.Env) {
		offered = nil
	}
	err := s.sdk(offered).Run(context.WithoutCancel(c.Context), &sdk.IOTransport{Reader: spoken, Writer: spoken})
	if errors.Is(err, io.EOF) {
		return nil // stdin has ended, or the agent ends its server by a signal
	}
	return err
}

// server answers for one agent.
type server struct {
	call  *call.Call
	above iter.Seq[int] // the processes that the server descends from, nearest first
}

const instructions = `Umbra keeps a snapshot of this workspace, and of this conversation, at each prompt, tool and answer.
A mission is one agent at work in one workspace; you are one. A moment is written MISSION@TURN: login@3 is the end of turn 3 of login, ` +
	`login@3.0 the moment before its prompt; the tool timeline lists them.
Take a snapshot before a risky step. Use run_fork to let copies of yourself try something, each in a workspace of its own, ` +
	`and enter_fork to try something aside in this terminal and come back. ` +
	`Nothing that is in a snapshot is lost: do not redo by hand what show, cat or restore can give back.
restore, promote and save_context change files: they show a plan, and your user decides. ` +
	`A message that names a command, such as "umbra log login", is for your user's shell; the tool of that work does the same.`

func (s *server) sdk(offered []adder) *sdk.Server {
	built := sdk.NewServer(
		&sdk.Implementation{Name: "umbra", Title: "Umbra", Version: version.Current()},
		&sdk.ServerOptions{Instructions: instructions, Capabilities: &sdk.ServerCapabilities{}},
	)
	for _, add := range offered {
		add(s, built)
	}
	return built
}
