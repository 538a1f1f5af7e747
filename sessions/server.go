package sessions

// ServerName is what agents call the server of Umbra's tools.
const ServerName = "umbra"
