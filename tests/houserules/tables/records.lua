--- Records of the library and museum.
return {
  {
    title = "Loan {number}", name = "loan {number}",
    fields = {
      { "Lent on", "lent", { "When was {record} lent?", "Since when is {record} lent out?" } },
      { "Return by", "back", { "By what date must {record} return?", "Until which date may {record} return?" } },
      { "Reader", "person", { "Who is the reader of {record}?", "Whose name is given as reader in {record}?" } },
      { "Book", "title", { "Which book is {record} about?", "What book does {record} name?" } },
      { "Shelf mark", "mark", { "What shelf mark has {record}?", "Under which shelf mark is {record}?" } },
      { "Late fee", "fee", { "How much is the late fee of {record}?", "What late fee has {record}?" } },
      { "Renewed", "state", { "Was {record} renewed?", "Has {record} been renewed?" } },
      { "Subjects", "topics", { "Which subjects has {record}?", "What subjects belong to {record}?" } },
    },
  },
  {
    title = "Exhibit {number}", name = "exhibit {number}",
    fields = {
      { "Acquired", "lent", { "When was {record} acquired?", "Since when is {record} acquired?" } },
      { "Donor", "person", { "Who is the donor of {record}?", "Whose name is given as donor of {record}?" } },
      { "Width", "width", { "How wide is the width of {record}?", "What width has {record}?" } },
      { "Mass", "mass", { "How heavy is the mass of {record}?", "What mass has {record}?" } },
      { "Humidity", "damp", { "What humidity does {record} need?", "How much humidity suits {record}?" } },
      { "Insured value", "fee", { "How much is the insured value of {record}?", "What insured value has {record}?" } },
      { "On display", "state", { "Is {record} on display?", "Was {record} put on display?" } },
      { "Location", "room", { "Where is the location of {record}?", "In which location is {record}?" } },
      { "Inventory mark", "mark",
        { "What inventory mark has {record}?", "Under which inventory mark is {record}?" } },
    },
  },
  {
    title = "Evening {number}", name = "evening {number}",
    fields = {
      { "Doors open", "hour", { "At what hour do the doors open on {record}?", "When do doors open on {record}?" } },
      { "Speaker", "person", { "Who is the speaker of {record}?", "Whose name is given as speaker of {record}?" } },
      { "Talk length", "span", { "How long is the talk length of {record}?", "What talk length has {record}?" } },
      { "Seats", "seats", { "How many seats has {record}?", "What number of seats has {record}?" } },
      { "Contact line", "call", { "What contact line has {record}?", "Which contact line serves {record}?" } },
      { "Themes", "topics", { "Which themes has {record}?", "What themes belong to {record}?" } },
      { "Venue", "room", { "Where is the venue of {record}?", "In which venue is {record}?" } },
      { "Sold out", "state", { "Is {record} sold out?", "Was {record} sold out?" } },
    },
  },
}
