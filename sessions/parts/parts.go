// Package parts reads what the messages of Gemini CLI consist of, and those of agents that
// came of it: texts, thoughts, calls of tools and their results, of which some are signed
// by the model. It knows no file.
package parts

import "github.com/umbra-vcs/umbra/sessions/jsontext"

// Part is one part of a message's content, with its values left encoded.
type Part struct {
	Text     []byte
	Thought  bool
	Call     []byte // {id, name, args}
	Response []byte // {id, name, response}
}

// Each calls f for each part of a content: a string, a part or a list of them.
func Each(content []byte, f func(Part)) {
	if len(content) == 0 {
		return
	}
	switch content[0] {
	case '"':
		f(Part{Text: content})
	case '{':
		f(parse(content))
	case '[':
		c := jsontext.Walk(content)
		for value := range c.Elements() {
			if len(value) > 0 && value[0] == '"' {
				f(Part{Text: value})
			} else {
				f(parse(value))
			}
		}
		return
	}
}

func parse(b []byte) Part {
	var p Part
	c := jsontext.Walk(b)
	for key, value := range c.Members() {
		switch string(key) {
		case "text":
			p.Text = value
		case "thought":
			p.Thought = jsontext.IsTrue(value)
		case "functionCall":
			p.Call = value
		case "functionResponse":
			p.Response = value
		}
	}
	return p
}
