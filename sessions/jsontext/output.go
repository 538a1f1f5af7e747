package jsontext

import "strings"

// outputNames are the members in which agents have what a tool gave back as text. What else
// stands beside it, such as a picture, is none.
var outputNames = map[string]bool{"text": true, "output": true, "content": true, "error": true, "response": true, "functionResponse": true}

// OutputText is the text of a tool's result in JSON: a string, or the strings in a list of
// parts and in the members of an object that hold text.
func OutputText(result []byte) string {
	var parts []string
	collectOutput(result, 0, &parts)
	return strings.Join(parts, "\n")
}

// deepestOutput is how deep a text may be in a result.
const deepestOutput = 8

func collectOutput(value []byte, depth int, parts *[]string) {
	if len(value) == 0 || depth > deepestOutput {
		return
	}
	c := Walk(value)
	switch value[0] {
	case '"':
		if text := Text(value); text != "" {
			*parts = append(*parts, text)
		}
	case '[':
		for one := range c.Elements() {
			collectOutput(one, depth+1, parts)
		}
		return
	case '{':
		for name, one := range c.Members() {
			if outputNames[string(name)] {
				collectOutput(one, depth+1, parts)
			}
		}
		return
	}
}
