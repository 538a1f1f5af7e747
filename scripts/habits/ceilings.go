package main

// ceilings are what is over the measure today, and why.
var ceilings = []ceiling{
	{"gitstore/capture.walker fields", 21, "one walk: what it was given, what it knows, what it found"},
	{"gitstore/fork.Source fields", 17, "a document: everything that a fork is made of"},
	{"gitstore/restore.planner fields", 17, "the steps of one plan share their state"},
	{"missions/forks.forkJob fields", 16, "the steps of one fork share their state"},
	{"missions/projects.MissionPlan fields", 22, "a document: everything that a mission begins with"},
	{"scripts/crash.world methods", 55, "one world for all plights of the harness"},
	{"scripts/endure.soak fields", 24, "the settings of a run and what it counted, side by side"},
	{"sessions.Event fields", 25, "a document: what the hooks of all agents tell"},
	{"sessions/claude.line fields", 20, "a document: a line of a transcript, not yet decoded"},
	{"watcher.Tree fields", 16, "what one mutex guards"},
	{"watcher.Watcher fields", 19, "what one mutex guards"},
}
