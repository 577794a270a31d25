CREATE TABLE "mcp_consents" (
	"id" text PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"user_id" text NOT NULL,
	"client_id" text NOT NULL,
	"redirect_uri" text NOT NULL,
	"client_name" text NOT NULL,
	"scopes" text NOT NULL,
	"grant_id" text,
	"created_at" bigint NOT NULL,
	"last_used_at" bigint
);
--> statement-breakpoint
CREATE TABLE "mcp_records" (
	"model" text NOT NULL,
	"id" text NOT NULL,
	"payload" text NOT NULL,
	"grant_id" text,
	"uid" text,
	"consumed_at" bigint,
	"expires_at" bigint,
	CONSTRAINT "mcp_records_model_id_pk" PRIMARY KEY("model","id")
);
--> statement-breakpoint
CREATE TABLE "suspended_calls" (
	"id" text PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"process_id" text NOT NULL,
	"status" text NOT NULL,
	"payload" text NOT NULL,
	"expires_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "toolsets" (
	"project_id" text NOT NULL,
	"id" text NOT NULL,
	"tools" text,
	"namespaces" text,
	"tags" text,
	"providers" text,
	"names" text NOT NULL,
	"instructions" text,
	"listing" text,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	CONSTRAINT "toolsets_project_id_id_pk" PRIMARY KEY("project_id","id")
);
--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "user_id" text;--> statement-breakpoint
ALTER TABLE "mcp_consents" ADD CONSTRAINT "mcp_consents_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "suspended_calls" ADD CONSTRAINT "suspended_calls_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "toolsets" ADD CONSTRAINT "toolsets_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "mcp_consents_identity" ON "mcp_consents" USING btree ("project_id","user_id","client_id","redirect_uri");--> statement-breakpoint
CREATE INDEX "mcp_records_grant" ON "mcp_records" USING btree ("grant_id") WHERE grant_id is not null;--> statement-breakpoint
CREATE INDEX "mcp_records_uid" ON "mcp_records" USING btree ("uid") WHERE uid is not null;--> statement-breakpoint
CREATE INDEX "mcp_records_expiry" ON "mcp_records" USING btree ("expires_at") WHERE expires_at is not null;--> statement-breakpoint
CREATE INDEX "suspended_calls_expiry" ON "suspended_calls" USING btree ("expires_at");