package demo

// tillTurn is a prompt of the longer demo, and what the agent does for it.
type tillTurn struct {
	prompt string
	step
}

// runTests is the command that says whether the longer demo's work is good.
const runTests = "sh test.sh"

// write, edit and shell are the uses of tools that the longer demo is made of.
func write(file, text string) toolUse { return toolUse{name: "Write", target: file, text: text} }
func edit(file, old, text string) toolUse {
	return toolUse{name: "Edit", target: file, old: old, text: text}
}
func shell(command string) toolUse { return toolUse{name: "Bash", target: command} }

const tillBegun = `#!/bin/sh
# Adds up prices, which are in cents.
sum=0
for price in "$@"; do
	sum=$((sum + price))
done
echo "$sum"
`

const tillTests = `#!/bin/sh
# Says what is wrong, or nothing.
expect() {
	want=$1
	shift
	got=$(sh total.sh "$@")
	[ "$got" = "$want" ] && return
	echo "wrong: total.sh $*: $got instead of $want"
	exit 1
}
expect 0
expect 600 100 200 300
`

// tillReadme is a README that says nothing wrong, as most do.
const tillReadme = `# till

total.sh adds up prices, which are in cents:

    sh total.sh 100 200 300
`

// tillStory is what the longer demo's user asks for, and what the agent makes of it. One of the
// turns breaks a test that nobody runs until the last.
func tillStory() []tillTurn {
	return []tillTurn{
		{"write total.sh, which adds up prices in cents, and a test", step{[]toolUse{
			write("total.sh", tillBegun), write("test.sh", tillTests), shell(runTests),
		}, "total.sh adds up prices; the test passes."}},
		{"take off ten percent from 1000 cents on", step{[]toolUse{
			edit("total.sh", "echo \"$sum\"\n", "if [ \"$sum\" -ge 1000 ]; then\n\tsum=$((sum - sum / 10))\nfi\necho \"$sum\"\n"),
			edit("test.sh", "expect 0\n", "expect 0\nexpect 900 1000\n"), shell(runTests),
		}, "From 1000 cents on ten percent are taken off; the test passes."}},
		{"add the tax, which is 20 percent", step{[]toolUse{
			edit("total.sh", "echo \"$sum\"\n", "sum=$((sum + sum / 5)) # the tax\necho \"$sum\"\n"),
			edit("test.sh", "expect 900 1000\nexpect 600 ", "expect 1080 1000\nexpect 720 "), shell(runTests),
		}, "The tax is added last; the test passes."}},
		{"write a README", step{[]toolUse{write("README.md", tillReadme)}, "There is a README."}},
		{"refuse what is no price", step{[]toolUse{
			edit("total.sh", "\tsum=$((sum + price))\n",
				"\tcase $price in\n\t\"\" | *[!0-9]*) echo \"no price: $price\" >&2; exit 2 ;;\n\tesac\n\tsum=$((sum + price))\n"),
			shell("sh total.sh 100 cheap; " + runTests),
		}, "What is no number is refused; the test passes."}},
		{"print euros, with two digits behind the point", step{[]toolUse{
			edit("total.sh", "echo \"$sum\"\n", "printf '%d.%02d\\n' $((sum / 100)) $((sum % 100))\n"),
			edit("test.sh", "expect 0\nexpect 1080 1000\nexpect 720 ", "expect 0.00\nexpect 10.80 1000\nexpect 7.20 "), shell(runTests),
		}, "It prints euros; the test passes."}},
		{"say in the README that it prints euros", step{[]toolUse{
			edit("README.md", "300\n", "300\n\nIt prints euros.\n"),
		}, "The README says so."}},
		{"take prices from a file as well", step{[]toolUse{
			edit("total.sh", "sum=0\n", "sum=0\nif [ \"$1\" = -f ]; then\n\tset -- $(cat \"$2\")\nfi\n"),
			shell("printf '100\\n200\\n' >prices.txt && sh total.sh -f prices.txt"),
		}, "total.sh -f FILE takes prices from a file."}},
		{"tidy up total.sh", step{[]toolUse{
			edit("total.sh", "if [ \"$sum\" -ge 1000 ]; then\n\tsum=$((sum - sum / 10))\nfi\n", "[ \"$sum\" -gt 1000 ] && sum=$((sum - sum / 10))\n"),
			edit("total.sh", "# Adds up prices, which are in cents.\n", "# Adds up prices in cents: total.sh PRICE..., or total.sh -f FILE.\n"),
		}, "total.sh is shorter, and does what it did."}},
		{"show in the README how prices come from a file", step{[]toolUse{
			edit("README.md", "300\n", "300\n    sh total.sh -f prices.txt\n"),
		}, "The README shows it."}},
		{"with -h say how it is used", step{[]toolUse{
			edit("total.sh", "sum=0\n", "if [ \"$1\" = -h ]; then\n\techo \"usage: total.sh PRICE... | -f FILE\"\n\texit\nfi\nsum=0\n"), shell("sh total.sh -h"),
		}, "total.sh -h says how it is used."}},
		{"keep a list of changes", step{[]toolUse{
			write("CHANGES.md", "- total.sh -h says how it is used\n- total.sh -f FILE takes prices from a file\n- totals are in euros\n"),
		}, "CHANGES.md has them."}},
		{"send what is wrong with prices to a log, too", step{[]toolUse{
			edit("total.sh", "echo \"no price: $price\" >&2; exit 2", "echo \"no price: $price\" | tee -a refused.log >&2; exit 2"),
			shell("sh total.sh cheap; cat refused.log"),
		}, "Refused prices are in refused.log."}},
		{"run the test before we ship it", step{[]toolUse{shell(runTests)},
			"The test fails, and I don't know since when: I had not run it for a while."}},
	}
}

// stepOfTill is what the agent does for a prompt of the longer demo.
func stepOfTill(prompt string) (step, bool) {
	for _, t := range tillStory() {
		if t.prompt == prompt {
			return t.step, true
		}
	}
	return step{}, false
}
