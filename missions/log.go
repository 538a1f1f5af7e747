package missions

var StateNames = [...]StateName{StateInitializing, StateRunning, StateWaiting, StateIdle, StateError, StateClosed}
