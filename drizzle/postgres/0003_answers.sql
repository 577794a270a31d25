CREATE TABLE "answers" (
	"place" text PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"owner" text NOT NULL,
	"request" text NOT NULL,
	"answer" text,
	"until" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "answers" ADD CONSTRAINT "answers_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "answers_until" ON "answers" USING btree ("until");