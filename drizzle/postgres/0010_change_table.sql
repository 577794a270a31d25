CREATE TABLE "changes" (
	"xid" bigint NOT NULL,
	"writer" text NOT NULL,
	"body" text,
	"pruned_below" bigint,
	CONSTRAINT "changes_xid_writer_pk" PRIMARY KEY("xid","writer")
);
