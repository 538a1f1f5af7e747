package commands

import (
	"bufio"
	"fmt"
	"strings"
)

// canAsk reports whether there is somebody to ask.
func (c *call) canAsk() bool {
	return !c.JSON && c.IsTerminal(c.Stdin) && c.IsTerminal(c.Stderr)
}

// answer is one of a question's answers, and the letter that gives it.
type answer struct{ letter, meaning string }

// ask puts a question and returns the letter of the answer. Anything that is
// no answer is the last one, which is the one that does nothing. The error is
// the context's.
func (c *call) ask(question string, answers ...answer) (string, error) {
	c.progress.end()
	fmt.Fprintln(c.Stderr, question)
	for _, a := range answers {
		fmt.Fprintf(c.Stderr, "  %s  %s\n", a.letter, a.meaning)
	}
	fmt.Fprint(c.Stderr, "> ")
	typed := make(chan string, 1)
	// The read can't be interrupted; what it holds goes with the process.
	go func() {
		line, _ := bufio.NewReader(c.Stdin).ReadString('\n')
		typed <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-c.ctx.Done():
		fmt.Fprintln(c.Stderr)
		return "", c.ctx.Err()
	case line := <-typed:
		choice := answers[len(answers)-1].letter
		for _, a := range answers {
			if line == a.letter {
				return line, nil
			}
			if line != "" && strings.HasPrefix(a.meaning, line) {
				choice = a.letter
			}
		}
		return choice, nil
	}
}

// confirm asks a question of yes or no; --yes answers it.
func (c *call) confirm(question string) (bool, error) {
	if c.Yes {
		return true, nil
	}
	letter, err := c.ask(question, answer{"y", "yes"}, answer{"n", "no"})
	return letter == "y", err
}
