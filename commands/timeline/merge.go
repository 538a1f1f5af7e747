package timeline

import (
	"bytes"
	"context"
	"strings"
	"sync"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/merges"
	"github.com/umbra-vcs/umbra/commands/tui"
	"github.com/umbra-vcs/umbra/missions"
)

func mergeAnswers(r missions.MergeResult, q missions.MergedPath) (all []tui.MergeAnswer) {
	for _, a := range merges.Answers(r, q) {
		all = append(all, tui.MergeAnswer{Key: a.Letter, Text: a.Text, Take: a.Take})
	}
	return all
}

// endings are the commands that the timeline runs, none of which may begin once it is left: the
// process would end before them.
type endings struct {
	lock   sync.Mutex
	isLeft bool
	run    sync.WaitGroup
}

// do runs a command, unless the timeline was left.
func (e *endings) do(command func()) {
	e.lock.Lock()
	if e.isLeft {
		e.lock.Unlock()
		return
	}
	e.run.Add(1)
	e.lock.Unlock()
	defer e.run.Done()
	command()
}

// wait waits for those that run. No other one begins.
func (e *endings) wait() {
	e.lock.Lock()
	e.isLeft = true
	e.lock.Unlock()
	e.run.Wait()
}

// endMerge runs umbra merge within this process, off the terminal, and returns what it prints.
// It is interrupted when the timeline is left.
func endMerge(ctx context.Context, c *call.Call, into string, flags []string) []string {
	var said bytes.Buffer
	env := c.Within(ctx, append([]string{"merge", "--into", into}, flags...), strings.NewReader(""), &said, &said)
	env.Again(env)
	return strings.Split(strings.TrimRight(said.String(), "\n"), "\n")
}
