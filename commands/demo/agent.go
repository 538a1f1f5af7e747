package demo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/umbra-vcs/umbra/commands/print"
)

// demoAgent is the demo's end of an agent that runs under its keeper: what a
// person at the terminal would type and see.
type demoAgent struct {
	d      *demo
	args   []string
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	output *os.File
	lines  *bufio.Reader
	ended  bool
	err    error
}

// told is a prompt for an agent.
type told struct {
	agent  *demoAgent
	prompt string
}

// launch runs a command that launches an agent, and waits until the agent is
// ready for a prompt.
func (d *demo) launch(args ...string) (*demoAgent, error) {
	if err := d.typed(args); err != nil {
		return nil, err
	}
	output, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	cmd := d.command(args)
	cmd.Stdout, cmd.Stderr = w, w
	a := &demoAgent{d: d, args: args, cmd: cmd, output: output, lines: bufio.NewReader(output)}
	if a.stdin, err = cmd.StdinPipe(); err == nil {
		err = cmd.Start()
	}
	err = errors.Join(err, w.Close()) // the end of the agent is the end of its output
	if err != nil {
		return nil, errors.Join(d.judge(args, err), output.Close())
	}
	// An agent whose keeper was killed lets go when it has no input any more.
	context.AfterFunc(d.c.Context, func() { _, _ = a.stdin.Close(), output.Close() })
	return a, a.listen()
}

// converse gives each agent its prompt, lets them work side by side, and then
// shows what each said, and the snapshots that its mission has got by it.
func (d *demo) converse(prompts ...told) error {
	for _, t := range prompts {
		if _, err := io.WriteString(t.agent.stdin, t.prompt+"\n"); err != nil {
			return d.judge(t.agent.args, err)
		}
	}
	p := d.c.Out
	for _, t := range prompts {
		name := ""
		if len(prompts) > 1 {
			name = p.Paint(print.Dim, t.agent.mission()+" ")
		}
		p.Line("  %s%s%s", name, p.Paint(print.BoldCyan, ready), p.Paint(print.Bold, t.prompt))
		if err := t.agent.listen(); err != nil {
			return err
		}
		if d.long {
			continue // they are many
		}
		if err := d.showSnapshots(t.agent.mission()); err != nil {
			return err
		}
	}
	return nil
}

// mission is the name that the agent's mission was given.
func (a *demoAgent) mission() string { return a.args[len(a.args)-1] }

// listen shows what the agent prints until it is ready for a prompt. An agent
// that ends instead is an error.
func (a *demoAgent) listen() error {
	var line strings.Builder
	for {
		b, err := a.lines.ReadByte()
		if err != nil {
			a.show(line.String())
			if err = a.wait(); err == nil {
				err = io.ErrUnexpectedEOF
			}
			return a.d.judge(a.args, err)
		}
		if b == '\n' {
			a.show(line.String())
			line.Reset()
			continue
		}
		line.WriteByte(b)
		if line.String() == ready {
			return a.d.c.Out.Flush()
		}
	}
}

func (a *demoAgent) show(line string) {
	if line != "" {
		a.d.c.Out.Line("  %s", print.Clean(line))
	}
}

// leave tells the agent that there are no more prompts, and waits for its end
// and its keeper's.
func (a *demoAgent) leave() error {
	if a == nil || a.ended {
		return nil
	}
	_ = a.stdin.Close()                 // it may have ended
	_, _ = io.Copy(io.Discard, a.lines) // up to its end, or until the demo is interrupted
	return a.d.judge(a.args, a.wait())
}

func (a *demoAgent) wait() error {
	if !a.ended {
		a.ended = true
		a.err = a.cmd.Wait()
		_ = a.output.Close() // only read
	}
	return a.err
}
